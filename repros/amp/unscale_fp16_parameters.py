# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A model cast to half cannot be trained with a GradScaler"
# kind = "error"
# symptom = "Attempting to unscale FP16 gradients"
# messages = ["Attempting to unscale FP16 gradients"]
# origin = "design"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/74739",
#     "https://github.com/Lightning-AI/pytorch-lightning/issues/5140",
# ]
# documents = [
#     "https://docs.pytorch.org/docs/stable/amp.html#torch.autocast",
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/amp/grad_scaler.py",
# ]
# wrong = '''
# model.half()
# '''
# fix = "amp.choose_precision"
# requires = ">=2.3"
# affected = { cpu = ">=2.3", cuda = ">=2.3", mps = ">=2.8" }
# ///
"""The first unscale_() or step() raises (Lightning-AI/pytorch-lightning#5140).

model.half() makes float16 parameters, whose gradients are float16, and unscale_()
refuses those (torch/amp/grad_scaler.py). The parameters are to stay float32, and
autocast is to do the casting: do not call half() on the model (docs: torch.autocast).
"""

import torch


def train(device, half):
    scaler = torch.amp.GradScaler(device)
    model = torch.nn.Linear(2, 1, bias=False).to(device)
    if half:
        model.half()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loss = model.weight.sum()
    scaler.scale(loss).backward()
    try:
        scaler.unscale_(optimizer)
    except ValueError as error:
        return str(error)


def reproduce(device):
    return train(device, half=True)


def control(device):
    return train(device, half=False)


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
