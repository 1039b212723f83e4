# /// script
# requires-python = ">=3.10"
# dependencies = ["torch", "numpy"]
#
# [tool.repro]
# title = "numpy() of the gradient of torch.sgn is uninitialised memory"
# kind = "silent"
# symptom = "a gradient of zeros as numpy is \\[7.0, 7.0, 7.0, 7.0\\]"
# origin = "torch"
# reports = ["https://github.com/pytorch/pytorch/issues/89034"]
# fixed_by = "pytorch#164487"
# wrong = '''
# torch.sgn(x).sum().backward()
# array = x.grad.numpy()
# '''
# right = '''
# torch.sign(x).sum().backward()
# array = x.grad.numpy()
# '''
# fix = "upgrade"
# affected = { cpu = "<2.10" }
# ///
"""The gradient prints as zeros, and its array holds what was in memory before.

The gradient of sgn is a ZeroTensor (pytorch#89034), which has no memory: numpy allocates
its own and does not fill it. Now an error is raised (pytorch#164487).
"""

import torch


def convert(device, sign):
    x = torch.ones(4, device=device, requires_grad=True)
    sign(x).sum().backward()
    torch.full((4,), 7.0).numpy().copy()  # dropped at once: numpy uses its memory again
    try:
        array = x.grad.numpy()
    except RuntimeError as error:
        if "ZeroTensor" not in str(error):
            raise
        return None
    if array.any() and not x.grad.any():
        return f"a gradient of zeros as numpy is {array.tolist()}"


def reproduce(device):
    return convert(device, torch.sgn)


def control(device):
    return convert(device, torch.sign)


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
