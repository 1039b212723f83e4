# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Skipping batches that contain NaN throws most of the data away and reports success"
# kind = "silent"
# symptom = "of 100 batches were skipped for 3 % dirty rows"
# origin = "usage"
# reports = ["https://github.com/pytorch/pytorch/issues/46849"]
# documents = ["https://pytorch.org/docs/stable/data.html"]
# wrong = '''
# TODO
# '''
# fix = "numerics.find_nonfinite"
# affected = { cpu = ">=1.13" }
# ///
"""A batch of 32 is dirty when any of its rows is: 3 % dirty rows spoil 1 - 0.97**32 =
62 % of the batches.

`if isnan(batch).any(): continue` trains on the rest, converges on less data, and says
nothing. Drop the rows, or fail and name the field.
"""

import torch


def skipped(device, dirty_share):
    torch.manual_seed(0)
    count = 0
    for _ in range(100):
        x = torch.randn(32, 4)
        x[torch.rand(32) < dirty_share, 0] = float("nan")
        if x.to(device).isnan().any():
            count += 1
            continue  # the published guard
    if count > 40:
        return f"{count} of 100 batches were skipped for {100 * dirty_share:.0f} % dirty rows"


def reproduce(device):
    return skipped(device, dirty_share=0.03)


def control(device):
    return skipped(device, dirty_share=0.0)


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
