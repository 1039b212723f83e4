# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "backward() of mse_loss raises where target and prediction differ in dtype"
# kind = "error"
# symptom = "Found dtype Double but expected Float"
# messages = ["Found dtype (?:Double|Float) but expected (?:Float|Double)"]
# keywords = ["Found dtype Double but expected Float"]
# origin = "torch"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/36553",
#     "https://github.com/pytorch/pytorch/issues/94086",
# ]
# documents = [
#     "https://github.com/pytorch/pytorch/pull/175743",
#     "https://github.com/pytorch/pytorch/issues/76646",
# ]
# fixed_by = "pytorch#175743"
# wrong = '''
# loss = torch.nn.functional.mse_loss(prediction, target)
# '''
# right = '''
# loss = torch.nn.functional.mse_loss(prediction, target.to(torch.float32))
# '''
# affected = { cpu = "<2.12" }
# ///
"""The forward takes a float64 target, as NumPy makes it, and backward() raises.

mse_loss computes in the common dtype of both tensors; its backward
(aten/src/ATen/native/Loss.cpp) did not convert the gradient back (pytorch#94086,
pytorch#175743). huber_loss fails the same way (pytorch#76646).
"""

import torch


def train(device, dtype):
    prediction = torch.zeros(2, device=device, requires_grad=True)
    target = torch.ones(2, dtype=torch.float64, device=device)
    loss = torch.nn.functional.mse_loss(prediction, target.to(dtype))
    loss.backward()


def reproduce(device):
    try:
        train(device, torch.float64)
    except RuntimeError as error:
        if "Found dtype" not in str(error):
            raise
        return str(error)


def control(device):
    train(device, torch.float32)


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
