# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A loss that matches nothing and returns a plain zero tensor raises in backward()"
# kind = "error"
# symptom = "element 0 of tensors does not require grad"
# messages = ["element \\d{1,9} of tensors does not require grad and does not have a grad_fn"]
# origin = "usage"
# reports = ["https://github.com/pytorch/pytorch/issues/112583"]
# documents = ["https://pytorch.org/docs/stable/notes/autograd.html"]
# wrong = '''
# TODO
# '''
# fix = "loss.match"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""torch.zeros(()) has no history, so backward() refuses it: here the mismatch is at
least loud.

The advice found for this message, loss.requires_grad_(), turns it into the silent kind:
backward() succeeds and reaches no parameter.
"""

import torch


def backward(device, matched, repair=lambda loss: loss):
    model = torch.nn.Linear(3, 1).to(device)
    output = model(torch.ones(2, 3, device=device)).mean()
    loss = repair(output if matched else torch.zeros((), device=device))
    try:
        loss.backward()
    except RuntimeError as error:
        return str(error)
    if model.weight.grad is None:
        return "backward() is quiet, and no parameter has a gradient"


def reproduce(device):
    return backward(device, matched=False)


def control(device):
    return backward(device, matched=True)


def popular_fix(device):
    return backward(device, matched=False, repair=torch.Tensor.requires_grad_)


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
