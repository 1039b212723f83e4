# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "w -= lr * w.grad raises an error, and after w = w - lr * w.grad, the next step has no gradient"
# kind = "error"
# symptom = "a leaf Variable that requires grad is being used in an in-place operation"
# messages = ["a leaf Variable that requires grad is being used in an in-place operation"]
# elsewhere = ["leaf Variable that requires grad has been used in an in-place operation"]
# origin = "design"
# reports = ["https://github.com/BaiTheBest/SparseLLM/issues/13"]
# documents = [
#     "https://github.com/pytorch/examples/pull/779",
#     "https://docs.pytorch.org/docs/stable/generated/torch.Tensor.is_leaf.html",
# ]
# wrong = '''
# loss.backward()
# w -= 0.1 * w.grad
# w.grad = None
# '''
# right = '''
# loss.backward()
# with torch.no_grad():
#     w -= 0.1 * w.grad
# w.grad = None
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""A manual gradient-descent step raises an error, because autograd would have to record a change to
the leaf that accumulates the gradient (torch/csrc/autograd/VariableTypeUtils.h).

Users are advised to write w = w - lr * w.grad instead (BaiTheBest/SparseLLM#13). This line runs,
but creates a new tensor that is not a leaf. The next backward() leaves the new tensor's grad at
None, and an optimizer or a module continues to use the old tensor. If nothing clears w.grad, each
step adds the gradients of all earlier steps.
"""

import warnings

import torch


def train(device, step):
    w = torch.zeros(1, device=device, requires_grad=True)
    try:
        for _ in range(100):
            w = step(w, (w - 3).square().sum())
    except (RuntimeError, TypeError) as error:
        return str(error)
    if abs(w.item() - 3) > 1e-3:
        return f"w ends at {w.item():.3g} instead of 3"


def in_place(w, loss):
    loss.backward()
    w -= 0.1 * w.grad
    w.grad = None
    return w


def under_no_grad(w, loss):
    loss.backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
    w.grad = None
    return w


def out_of_place(w, loss):
    loss.backward()
    w = w - 0.1 * w.grad
    w.grad = None
    return w


def reproduce(device):
    return train(device, in_place)


def control(device):
    return train(device, under_no_grad)


def popular_fix(device):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # w.grad of a tensor that is no leaf
        return train(device, out_of_place)


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
