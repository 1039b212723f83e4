# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "loss = torch.tensor(loss, requires_grad=True) trains nothing, and backward() does not object"
# kind = "silent"
# symptom = "no parameter has a gradient"
# messages = ["To copy construct from a tensor, it is recommended to use"]
# keywords = [
#     "loss stays constant",
#     "model does not learn",
#     "loss does not decrease",
#     "accuracy stays the same every epoch, no error",
#     "set requires_grad on the loss and now nothing learns",
#     "weights do not change after optimizer.step()",
#     "all gradients are None but backward works",
#     "loss is flat, the network never improves",
#     "fixed the requires grad error but the training is stuck",
#     "loss goes up and down randomly without a trend",
#     "custom loss function runs and model stays untrained",
#     "param.grad is None after loss.backward",
#     "converted numpy loss back to a tensor, no progress",
#     "policy gradient agent never improves, loss rebuilt as tensor",
#     "model output after training equals output before",
#     "validation score identical in each epoch",
#     "Variable(loss) training has no effect",
# ]
# origin = "design"
# reports = ["https://github.com/huggingface/torchMoji/issues/21"]
# documents = ["https://docs.pytorch.org/docs/stable/generated/torch.tensor.html"]
# wrong = '''
# loss = torch.tensor(loss, requires_grad=True)
# loss.backward()
# '''
# right = '''
# loss.backward()
# '''
# fix = "loss.check_gradients"
# rule = "error"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""torch.tensor() copies the value without its history, and requires_grad=True makes the
copy a leaf (docs: torch.tensor): backward() succeeds and reaches no parameter.

Variable(loss, requires_grad=True) does the same. Written to get past "element 0 of tensors
does not require grad", it leaves the loss where it was (huggingface/torchMoji#21).
"""

import torch
from torch.autograd import Variable


def train(device, rewrap):
    model = torch.nn.Linear(3, 1).to(device)
    loss = model(torch.ones(2, 3, device=device)).mean()
    rewrap(loss, requires_grad=True).backward()
    if model.weight.grad is None:
        return "backward() passed and no parameter has a gradient"


def reproduce(device):
    return train(device, torch.tensor) and train(device, Variable)


def control(device):
    return train(device, lambda loss, requires_grad: loss)


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
