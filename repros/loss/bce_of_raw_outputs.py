# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "binary_cross_entropy raises an error for outputs without a sigmoid"
# kind = "error"
# symptom = "all elements of input should be between 0 and 1"
# messages = ["all elements of input should be between 0 and 1"]
# elsewhere = [
#     "Assertion .input(?:_val)? ?>= ?(?:0\\.?|zero|scalar_t\\(0\\))? ?&& ?input(?:_val)? ?<= ?(?:1\\.?|one|scalar_t\\(1\\))",
# ]
# origin = "usage"
# reports = [
#     "https://github.com/ray-project/ray/issues/17117",
#     "https://github.com/pytorch/pytorch/issues/5560",
# ]
# documents = ["https://docs.pytorch.org/docs/stable/generated/torch.nn.BCELoss.html"]
# wrong = '''
# model = torch.nn.Linear(3, 1)
# criterion = torch.nn.BCELoss()
# loss = criterion(model(x), y)
# '''
# right = '''
# criterion = torch.nn.BCEWithLogitsLoss()
# loss = criterion(model(x), y)
# '''
# rule = "error"
# affected = { cpu = ">=1.13" }
# ///
"""A linear layer can return any number, but this loss expects probabilities (docs:
torch.nn.BCELoss). A tutorial's linear model fails in this way (ray-project/ray#17117). On a GPU the
error is a failed assertion about the input (pytorch#5560). With BCEWithLogitsLoss the model's
outputs stay unchanged. They are called logits, and their threshold is 0 instead of 0.5. If the
model still applies a sigmoid, no error is raised. A sample's loss, however, does not fall below
0.31 for a target of 1, or below 0.69 for a target of 0.

NaN is not between 0 and 1 either, so a NaN after the sigmoid causes the same error, whereas
BCEWithLogitsLoss returns NaN without an error. BCEWithLogitsLoss does not check the targets either:
for a mask of 0 and 255, the loss is far below 0 and falls without limit. Bicubic resizing can move
probabilities below 0 or above 1, but they are still not logits: resize the logits instead.
"""

import math

import torch


def start(device):
    model = torch.nn.Linear(3, 1, bias=False).to(device)
    torch.nn.init.constant_(model.weight, 2.0)
    x, y = torch.ones(2, 3, device=device), torch.tensor([[1.0], [0.0]], device=device)
    return model, x, y


def reproduce(device):
    model, x, y = start(device)
    criterion = torch.nn.BCELoss()
    try:
        criterion(model(x), y)
    except RuntimeError as error:
        return str(error)


def control(device):
    model, x, y = start(device)
    criterion = torch.nn.BCEWithLogitsLoss()
    loss = criterion(model(x), y)
    if abs(loss.item() - 3 - math.log1p(math.exp(-6))) > 1e-4:  # of the logits 6 and 6
        return f"the loss is {loss.item():.2f}"
    nan, grey = criterion(math.nan * model(x), y), criterion(model(x), 255 * y)
    if not (nan.isnan() and grey < -100):
        return f"the loss is {nan.item():.2f} of NaN, {grey.item():.2f} of a mask of 0 and 255"


def messages(device):
    model, x, y = start(device)
    try:
        torch.nn.BCELoss()(torch.sigmoid(math.nan * model(x)), y)
    except RuntimeError as error:
        return str(error)


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control, messages):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
