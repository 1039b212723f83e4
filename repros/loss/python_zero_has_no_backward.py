# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A sum over no matching losses is a Python number without backward()"
# kind = "error"
# symptom = "'int' object has no attribute 'backward'"
# messages = ["'(int|float)' object has no attribute 'backward'"]
# origin = "usage"
# documents = ["https://pytorch.org/docs/stable/notes/autograd.html"]
# wrong = '''
# TODO
# '''
# fix = "loss.match"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""sum() of an empty generator is the int 0. Starting it with a float, or wrapping it in
a tensor, only changes the message.
"""

import torch


def backward(device, prefix, wrap=lambda loss: loss):
    outputs = {"ce_loss": torch.nn.Linear(3, 1).to(device)(torch.ones(2, 3, device=device)).mean()}
    try:
        wrap(sum(value for name, value in outputs.items() if name.startswith(prefix))).backward()
    except (AttributeError, RuntimeError) as error:
        return str(error)


def reproduce(device):
    return backward(device, prefix="loss")


def control(device):
    return backward(device, prefix="ce")


def popular_fix(device):
    return backward(device, prefix="loss", wrap=torch.as_tensor)


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
