# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Skipping every batch with a NaN can skip nearly all batches if 3 % of the rows are bad"
# kind = "silent"
# symptom = "of 100 batches were skipped for 3 % bad rows"
# origin = "usage"
# documents = ["https://github.com/automl/TFM-Playground/pull/20"]
# wrong = '''
# if x.isnan().any():
#     continue
# '''
# right = '''
# x = x[~x.isnan().any(1)]
# '''
# fix = "numerics.find_nonfinite"
# affected = { cpu = ">=1.13" }
# retired = "the failure is arithmetic in which torch has no part, and no report was found; no other reproducer shows this failure"
# ///
"""If every 33rd row is bad, 97 of 100 batches of 32 rows contain a bad row and are skipped; without
bad rows (control), no batch is skipped.

Skipping batches with `continue` also distorts averages and sums over the batches
(automl/TFM-Playground#20).
"""

import torch


def skipped(device, bad):
    rows = torch.zeros(3200, 1)
    rows[::33] = bad
    count = sum(x.to(device).isnan().any().item() for x in rows.split(32))
    if count > 40:
        return f"{count} of 100 batches were skipped for 3 % bad rows"


def reproduce(device):
    return skipped(device, bad=float("nan"))


def control(device):
    return skipped(device, bad=0.0)


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
