# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "After a restart random_split validates on rows that the model was trained on"
# kind = "silent"
# symptom = "validation rows were trained on before the restart"
# origin = "usage"
# reports = ["https://github.com/aiqm/torchani/issues/443"]
# documents = [
#     "https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.random_split",
#     "https://github.com/kekmodel/FixMatch-pytorch/issues/41",
#     "https://github.com/TensorAuto/OpenTau/pull/498",
# ]
# wrong = '''
# train, val = random_split(rows, [80, 20])
# '''
# right = '''
# generator = torch.Generator().manual_seed(0)  # the same split in every run over the same rows
# train, val = random_split(rows, [80, 20], generator=generator)
# '''
# affected = { cpu = ">=1.13" }
# ///
"""The run that resumes draws a new split (aiqm/torchani#443), and rows that it validates
on were trained on before: of 80 to 20, about 16 of the 20. random_split() draws from the global
generator unless it is given one (docs: torch.utils.data.random_split).

A seed at the top of the script (advised in kekmodel/FixMatch-pytorch#41) holds only while
every draw between it and the split stays the same: here the run that resumes builds
another head first. A generator of its own holds while the rows keep their number and order:
with a row more it splits anew, and val.indices belong into the checkpoint.

The lines have to be there from the first run. A checkpoint of before was trained on another
split, and its rows are among the new ones for validation: start again, or keep the old indices.
"""

import torch
from torch.utils.data import random_split


def wrong(rows):
    train, val = random_split(rows, [80, 20])
    return set(train.indices), set(val.indices)


def with_a_generator(rows):
    generator = torch.Generator().manual_seed(0)  # the same split in every run over the same rows
    train, val = random_split(rows, [80, 20], generator=generator)
    return set(train.indices), set(val.indices)


def leak(split, seed=None):
    with torch.random.fork_rng(devices=[]):  # so that this file leaves the seed as it was
        runs = []
        for width in (1, 2):
            if seed is not None:
                torch.manual_seed(seed)
            torch.nn.Linear(1, width)  # draws its weights
            runs.append(split(range(100)))
    (trained, _), (_, validated) = runs
    if trained & validated:
        return "validation rows were trained on before the restart"


def reproduce(device):
    return leak(wrong)


def control(device):
    return leak(with_a_generator)


def popular_fix(device):
    return leak(wrong, seed=0)


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control, popular_fix):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
