# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "x[::-1] fails for a tensor, although it reverses a list or an array"
# kind = "error"
# symptom = "step must be greater than zero"
# messages = ["step must be greater than zero"]
# elsewhere = ["negative step not yet supported"]
# origin = "design"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/59786",
#     "https://github.com/pytorch/pytorch/issues/99297",
#     "https://github.com/tomguluson92/StyleGAN_PyTorch/issues/3",
# ]
# documents = ["https://docs.pytorch.org/docs/stable/generated/torch.flip.html"]
# wrong = '''
# returns = returns[::-1]
# '''
# right = '''
# returns = returns.flip(0)
# '''
# rule = "error"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""Array code that reverses a sequence, a kernel or an image's channels fails on a tensor
(pytorch#99297).

A slice is a view, and a view that runs backwards would need a negative stride, which no tensor has
(pytorch#59786). A slice therefore accepts only steps of 1 or more (ATen/TensorIndexing.h). Because
flip() takes the dimension's number, x[:, ::-1] becomes x.flip(1).

The flip() call copies, so a change to its result does not reach x. For a larger step, slice after
the flip: x[::-2] is x.flip(0)[::2], whereas x[::2].flip(0) selects other elements if the length is
even.
"""

import torch


def by_a_slice(returns):
    returns = returns[::-1]
    return returns


def by_flip(returns):
    returns = returns.flip(0)
    return returns


def check(device, reverse):
    rewards = [1.0, 2.0, 4.0, 8.0]
    x = torch.tensor(rewards, device=device, requires_grad=True)
    try:
        returns = reverse(x)
    except ValueError as error:
        return str(error)
    (returns * torch.arange(4, device=device)).sum().backward()
    if returns.tolist() != rewards[::-1] or x.grad.tolist() != [3, 2, 1, 0]:
        return f"the order is {returns.tolist()}"
    if returns[::2].tolist() != rewards[::-2] or x[::2].flip(0).tolist() == rewards[::-2]:
        return "every second element is another one"


def reproduce(device):
    return check(device, by_a_slice)


def control(device):
    return check(device, by_flip)


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
