# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A sum over no losses is the number 0, which has no backward()"
# kind = "error"
# symptom = "'int' object has no attribute 'backward'"
# messages = ["'(?:int|float)' object has no attribute 'backward'"]
# origin = "usage"
# reports = [
#     "https://github.com/ghimiredhikura/Complex-YOLOv3/issues/8",
#     "https://github.com/pytorch/tutorials/issues/357",
# ]
# documents = ["https://github.com/v-mipeng/LexiconNER/issues/7"]
# wrong = '''
# loss = sum(value for name, value in outputs.items() if name.startswith("loss"))
# loss.backward()
# '''
# right = '''
# loss = outputs["ce_loss"]  # raises for a name that is not there; add others by theirs
# loss.backward()
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The sum() of an empty sequence is the int 0. Either no name matched, the batch has no target
(ghimiredhikura/Complex-YOLOv3#8), or nothing was added to a loss that starts at 0
(pytorch/tutorials#357). If the loss starts at 0.0, it is a float. Select the loss by its name. Skip
a batch without targets before you call the model. In DDP, skip it on all ranks together, because
the other ranks wait for its gradients.

Turning the number into a tensor, as advised in v-mipeng/LexiconNER#7, changes only the message.
"""

import torch


def start(device):
    weight = torch.tensor(1.0, device=device, requires_grad=True)
    return weight, {"ce_loss": 2 * weight, "accuracy": torch.tensor(0.5, device=device)}


def reproduce(device):
    weight, outputs = start(device)
    try:
        loss = sum(value for name, value in outputs.items() if name.startswith("loss"))
        loss.backward()
    except AttributeError as error:
        return str(error)


def control(device):
    weight, outputs = start(device)
    loss = outputs["ce_loss"]  # raises for a name that is not there
    loss.backward()
    if weight.grad != 2:
        return f"the gradient is {weight.grad}"


def messages(device):
    loss = 0.0
    for value in ():  # a batch without a term
        loss += value
    try:
        loss.backward()
    except AttributeError as error:
        return str(error)


def popular_fix(device):
    weight, outputs = start(device)
    loss = sum(value for name, value in outputs.items() if name.startswith("loss"))
    try:
        torch.as_tensor(loss).backward()
    except RuntimeError as error:
        return str(error)


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
