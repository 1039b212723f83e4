# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "retain_grad keeps an old gradient after a slice of the tensor is changed in place"
# kind = "silent"
# symptom = "x.grad is \\[6.0, 2.0\\], not \\[2.0, 2.0\\]"
# origin = "torch"
# reports = ["https://github.com/pytorch/pytorch/issues/117366"]
# documents = ["https://github.com/pytorch/pytorch/pull/79996"]
# fixed_by = "pytorch#117552"
# wrong = '''
# x.retain_grad()
# x[:1].mul_(3)
# '''
# right = '''
# x[:1].mul_(3)
# x.retain_grad()
# '''
# fix = "upgrade"
# affected = { cpu = "<2.3", cuda = "<2.3", mps = "<2.3" }
# ///
"""x.grad is the gradient with respect to the value of x before x[:1] was changed.

If x itself is changed, retain_grad() follows x to its new history (pytorch#79996). Before the
upstream fix, it did not follow a change of x through a view (pytorch#117552). A second call after
the change has no effect, so call retain_grad() only once, after the last change. The assignments
x[mask] = 0 and x[indices] = 0 change x itself, so its gradient is correct.
"""

import torch


def check(x):
    (x * 2).sum().backward()
    if x.grad.tolist() != [2, 2]:
        return f"x.grad is {x.grad.tolist()}, not [2.0, 2.0]"


def reproduce(device):
    x = torch.ones(2, device=device, requires_grad=True).clone()
    x.retain_grad()
    x[:1].mul_(3)
    return check(x)


def control(device):
    x = torch.ones(2, device=device, requires_grad=True).clone()
    x[:1].mul_(3)
    x.retain_grad()
    return check(x)


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
