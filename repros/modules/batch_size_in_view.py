# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "view() with a hard-coded batch size fails on the last batch"
# kind = "error"
# symptom = "shape '\\[-1, 32\\]' is invalid for input of size 24"
# messages = ["shape .\\[.{1,60}?\\]. is invalid for input of size"]
# origin = "usage"
# reports = [
#     "https://github.com/weka511/hpa-scc/issues/38",
#     "https://github.com/gsp-27/pytorch_Squeezenet/issues/4",
#     "https://github.com/ctallec/world-models/issues/25",
# ]
# documents = ["https://docs.pytorch.org/docs/stable/generated/torch.flatten.html"]
# wrong = '''
# x = x.view(-1, 4 * 8)  # batches of 4, 8 features
# '''
# right = '''
# x = x.flatten(1)
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""Training runs until the last batch of the epoch, which is smaller.

The number of elements of the smaller batch is not a multiple of 4 * 8. The error reveals a fault in
the full batches: there, -1 became 1, so all samples were put into one row (weka511/hpa-scc#38).
Passing drop_last=True leaves out the last batch (ctallec/world-models#25), but the full batches
keep their single row. Calling view(4, -1) gives 4 rows or an error: 3 samples with 8 features
silently become 4 rows of 6. A view that splits dimensions, for example into attention heads, needs
x.shape[0] instead of the 4.
"""

import torch
from torch.utils.data import DataLoader

IMAGES = torch.arange(7 * 2 * 4.0).view(7, 2, 4)


def train(device, flatten, **options):
    for x in DataLoader(IMAGES, batch_size=4, **options):
        try:
            rows = flatten(x.to(device))
        except RuntimeError as error:
            return str(error)
        symptom = None
        if len(rows) != len(x):
            symptom = f"{len(rows)} row for {len(x)} samples"
        elif not torch.equal(rows.cpu(), torch.stack([one.ravel() for one in x])):
            return "the rows are not the samples"
    return symptom


def wrong(x):
    x = x.view(-1, 4 * 8)  # batches of 4, 8 features
    return x


def per_sample(x):
    x = x.flatten(1)
    return x


def reproduce(device):
    return train(device, wrong)


def control(device):
    return train(device, per_sample)


def popular_fix(device):
    return train(device, wrong, drop_last=True)


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
