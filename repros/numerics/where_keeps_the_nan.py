# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "torch.where hides a NaN in the forward and passes it on in the backward"
# kind = "silent"
# symptom = "loss is finite, gradient .*nan"
# messages = ["Backward\\w{0,3}.{1,2} returned nan values in its \\d{1,2}\\w\\w output"]
# keywords = [
#     "torch.where nan gradient",
#     "loss is finite but gradient is nan",
#     "masked loss nan gradient",
#     "MulBackward0 returned nan",
#     "filtering nan does not help backward",
#     "nan_to_num does not help",
#     "masking out nan values does not stop nan gradients",
#     "gradients nan although the loss excludes nan entries",
#     "torch.where to avoid log(0) still gives nan",
#     "nan targets masked, weights become nan anyway",
#     "safe division with torch.where has nan gradient",
#     "loss value is right, backward yields nan",
#     "ignoring missing labels in the loss gives nan weights",
#     "where condition protects the value but not the gradient",
#     "multiply by mask zero does not remove nan gradient",
#     "piecewise function has nan gradients",
#     "sqrt of negative numbers masked, gradient still nan",
#     "weights nan after one step with finite loss",
#     "missing values in the target of my regression",
# ]
# origin = "design"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/23395",
#     "https://github.com/pytorch/pytorch/issues/52248",
#     "https://github.com/pytorch/pytorch/issues/68425",
#     "https://github.com/pytorch/pytorch/issues/156212",
# ]
# documents = [
#     "https://github.com/pytorch/pytorch/issues/94700",
#     "https://github.com/pytorch/tutorials/pull/2044",
# ]
# wrong = '''
# loss = torch.where(x > 0, x.log() * x, torch.zeros_like(x)).sum()
# '''
# right = '''
# loss = (torch.where(x > 0, x, torch.ones_like(x)).log() * x).sum()
# '''
# fix = "numerics.apply_where"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The loss is finite and the gradient is NaN where torch.where() chose the other branch.

The branch not taken gets a gradient of 0, and 0 * inf is NaN on its way through log:
autograd does not tell "no gradient" from "zero gradient" (pytorch#52248). nan_to_num()
on the result, tried instead, gives NaN as well; that is expected (pytorch#94700). What
helps is to replace the *input* of the branch (control).
"""

import torch


def gradient(device, safe_log):
    x = torch.tensor([0.0, 1.0], device=device, requires_grad=True)
    loss = safe_log(x).sum()
    loss.backward()
    if loss.isfinite() and x.grad.isnan().any():
        return f"loss is finite, gradient {x.grad.tolist()}"


def reproduce(device):
    return gradient(device, lambda x: torch.where(x > 0, x.log() * x, torch.zeros_like(x)))


def control(device):
    return gradient(device, lambda x: torch.where(x > 0, x, torch.ones_like(x)).log() * x)


def popular_fix(device):
    return gradient(device, lambda x: torch.nan_to_num(x.log() * x))


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
