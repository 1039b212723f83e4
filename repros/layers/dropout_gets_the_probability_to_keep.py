# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Dropout(keep_prob) drops what it should keep, because p is the probability to drop"
# kind = "silent"
# symptom = "dropout keeps 0.1 of the values, not 0.9"
# origin = "usage"
# reports = [
#     "https://github.com/hassony2/kinetics_i3d_pytorch/issues/6",
#     "https://github.com/piergiaj/pytorch-i3d/issues/58",
# ]
# documents = ["https://docs.pytorch.org/docs/stable/generated/torch.nn.Dropout.html"]
# wrong = '''
# dropout = torch.nn.Dropout(keep_prob)
# '''
# right = '''
# dropout = torch.nn.Dropout(1 - keep_prob)
# '''
# rule = "warning"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""A model ported from TensorFlow 1 learns slowly, but its shapes and losses look normal.

The argument p is the probability that an element is zeroed (docs: torch.nn.Dropout). The other
elements are divided by 1 - p, so for p below 1, the mean of the output is right with either line.
With keep_prob = 0.5, both lines agree. With keep_prob = 1, the wrong line returns only zeros in
train mode, and no layer before it learns. Eval mode does not show the mistake. The functions in
torch.nn.functional and the dropout argument of recurrent and attention layers also take the
probability to drop.
"""

import torch


def check(device, dropout):
    values = dropout.to(device)(torch.ones(10000, device=device))
    kept = values.ne(0).float().mean().item()
    if abs(kept - 0.9) > 0.05:
        return f"dropout keeps {kept:.1f} of the values, not 0.9"
    if abs(values.max().item() - 1 / 0.9) > 1e-5:
        return "dropout is not scaled by 1 / 0.9"


def reproduce(device):
    keep_prob = 0.9
    dropout = torch.nn.Dropout(keep_prob)
    return check(device, dropout)


def control(device):
    keep_prob = 0.9
    dropout = torch.nn.Dropout(1 - keep_prob)
    return check(device, dropout)


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
