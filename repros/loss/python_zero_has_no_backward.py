# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A sum over no losses is the number 0, which has no backward()"
# kind = "error"
# symptom = "'int' object has no attribute 'backward'"
# messages = ["'(int|float)' object has no attribute 'backward'"]
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
# loss = outputs["ce_loss"]  # a name that is missing raises
# '''
# fix = "loss.match_by_name"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""sum() of nothing is the int 0: no name matched, the batch has no target
(ghimiredhikura/Complex-YOLOv3#8), or a loss that starts at 0 was never added to
(pytorch/tutorials#357).

Turning the number into a tensor, as advised (v-mipeng/LexiconNER#7), only changes the
message.
"""

import torch


def backward(device, prefix, repair=lambda loss: loss):
    outputs = {"ce_loss": torch.tensor(1.0, device=device, requires_grad=True)}
    loss = sum(value for name, value in outputs.items() if name.startswith(prefix))
    try:
        repair(loss).backward()
    except (AttributeError, RuntimeError) as error:
        return str(error)


def reproduce(device):
    return backward(device, prefix="loss")


def control(device):
    return backward(device, prefix="ce")


def popular_fix(device):
    return backward(device, prefix="loss", repair=torch.as_tensor)


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
