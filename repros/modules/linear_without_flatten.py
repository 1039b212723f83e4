# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A Linear after convolutions fails if the features are not flattened"
# kind = "error"
# symptom = "shapes cannot be multiplied"
# messages = [
#     "mat1 and mat2 shapes cannot be multiplied",
#     "a and b must have same reduction dim, but got",
# ]
# elsewhere = [
#     'size mismatch, m1: \[\S{1,12} x \S{1,12}\], m2: \[',
#     "mat1 dim 1 must match mat2 dim 0",
#     'input and weight\.T shapes cannot be multiplied',
# ]
# origin = "usage"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/15129",
#     "https://github.com/open-nudge/torchlayers/issues/8",
# ]
# documents = ["https://docs.pytorch.org/docs/stable/generated/torch.nn.Linear.html"]
# wrong = '''
# model = Sequential(Conv2d(3, 8, 1), Linear(8 * 4 * 4, 5))
# '''
# right = '''
# model = Sequential(Conv2d(3, 8, 1), torch.nn.Flatten(), Linear(8 * 4 * 4, 5))
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The message reports far more rows than there are images, and the width of a feature map as the
number of columns.

Linear multiplies the last dimension and treats all others as rows (docs: torch.nn.Linear), so 2
images with 8 maps of 4 x 4 are 64 rows of 4. If the width happens to equal in_features, no error is
raised, and the loss receives a tensor of shape [2, 8, 4, 5]. If the message reports as many rows as
there are images, no flatten is missing: in_features differs from the number of columns. A flatten()
in the model's forward() is lost in Sequential(*model.children()) (pytorch#15129).
"""

import torch
from torch.nn import Conv2d, Linear, Sequential


def start(device):
    return torch.arange(2 * 3 * 4 * 4.0, device=device).view(2, 3, 4, 4)


def reproduce(device):
    model = Sequential(Conv2d(3, 8, 1), Linear(8 * 4 * 4, 5))
    try:
        model.to(device)(start(device))
    except RuntimeError as error:
        return str(error)


def control(device):
    model = Sequential(Conv2d(3, 8, 1), torch.nn.Flatten(), Linear(8 * 4 * 4, 5))
    images = start(device)
    output = model.to(device)(images)
    rows = torch.stack([one.ravel() for one in model[0](images)])
    if not torch.allclose(output, model[-1](rows), atol=0.05):
        return "the rows of the Linear are not the images"


def messages(device):
    try:
        Linear(3, 3, device="meta")(torch.ones(2, 4, device="meta"))
    except RuntimeError as error:
        return str(error)


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control, messages):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
