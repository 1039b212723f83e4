# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "After a restart, random_split() puts rows the model was trained on into the validation set"
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
# rule = "warning"
# when = "the run is resumed"
# affected = { cpu = ">=1.13" }
# ///
"""The resumed run draws a new split (aiqm/torchani#443) and validates on rows that the model has
already been trained on. If 100 rows are split into 80 and 20, this affects about 16 of the 20.
Unless you pass a generator, random_split() draws from the global generator (docs:
torch.utils.data.random_split).

A seed at the top of the script (advised in kekmodel/FixMatch-pytorch#41) helps only if every draw
between the seed and the split stays the same. Here the resumed run builds a different head first. A
separate generator helps only if the number and the order of the rows stay the same. With one more
row, the split is different, so save val.indices in the checkpoint.

Use the corrected code from the first run on. The model in an earlier checkpoint was trained on
another split, so some of its training rows are now in the validation set. Start over, or keep the
old indices.
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
