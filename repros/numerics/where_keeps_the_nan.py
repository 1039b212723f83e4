# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "torch.where() hides a NaN or infinity in the forward pass, but the gradient can still be NaN"
# kind = "silent"
# symptom = "loss is finite, gradient .*nan"
# messages = ["Backward\\w{0,3}.{1,2} returned nan values in its \\d{1,2}\\w\\w output"]
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
# positive = x > 0
# safe = torch.where(positive, x, torch.ones_like(x))
# loss = torch.where(positive, safe.log() * safe, torch.zeros_like(x)).sum()
# '''
# fix = "numerics.apply_where"
# use = '''
# from numerics import apply_where
# loss = apply_where(x > 0, lambda x: x.log() * x, x).sum()
# '''
# choice = "Normally, use the lines without the fix; use the fix if the branch with the NaN has several inputs, or if there are many such calls of torch.where()"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The loss is finite, but the gradient is NaN where torch.where() chose the other branch.

Autograd does not distinguish "no gradient" from "zero gradient" (pytorch#52248). The unselected
branch therefore gets a gradient of 0, which becomes 0 * inf = NaN in the backward pass of log. The
gradient is NaN only if the derivative of the branch is infinite or NaN. For example, the gradient
of x.log() alone is NaN at 0, but 0 at -2, although x.log() is NaN there. The gradient of x.sqrt()
is NaN at both points. Users also try nan_to_num() on the result, but its gradient is NaN as well;
this is expected (pytorch#94700). The fix is to replace the *input* of the branch, in each place
where it is used (control).
"""

import torch


def naive(x):
    loss = torch.where(x > 0, x.log() * x, torch.zeros_like(x)).sum()
    return loss


def safe_input(x):
    positive = x > 0
    safe = torch.where(positive, x, torch.ones_like(x))
    loss = torch.where(positive, safe.log() * safe, torch.zeros_like(x)).sum()
    return loss


def check(device, loss_of):
    x = torch.tensor([0.0, 1.0, -2.0, 2.0, float("-inf")], device=device, requires_grad=True)
    loss = loss_of(x)
    loss.backward()
    if loss.isfinite() and x.grad.isnan().any():
        return f"loss is finite, gradient {x.grad.tolist()}"
    log2 = 0.6931472
    expected = torch.tensor([0.0, 1.0, 0.0, 1 + log2, 0.0], device=device)
    if abs(loss.item() - 2 * log2) > 1e-5 or not torch.allclose(x.grad, expected):
        return f"loss {loss.item():g}, gradient {x.grad.tolist()} instead of {expected.tolist()}"


def reproduce(device):
    return check(device, naive)


def control(device):
    return check(device, safe_input)


def messages(device):
    x = torch.zeros(1, device=device, requires_grad=True)
    try:
        with torch.autograd.detect_anomaly():
            naive(x).backward()
    except RuntimeError as error:
        return str(error)


def popular_fix(device):
    return check(device, lambda x: torch.nan_to_num(x.log() * x, neginf=0.0).sum())


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control, messages, popular_fix):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
