# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "GradScaler.step() raises where no parameter of the optimizer has a gradient"
# kind = "error"
# symptom = "No inf checks were recorded for this optimizer"
# messages = ["No inf checks were recorded for this optimizer"]
# keywords = [
#     "GradScaler.step assertion error",
#     "found_inf_per_device is empty",
#     "all gradients are None with amp",
#     "loss is not connected to the model",
#     "zero_grad between backward and step",
# ]
# origin = "usage"
# reports = [
#     "https://github.com/open-mmlab/mmsegmentation/issues/3230",
#     "https://github.com/brian6091/Dreambooth/issues/23",
# ]
# documents = [
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/amp/grad_scaler.py",
# ]
# wrong = '''
# loss = torch.tensor(loss.item(), requires_grad=True)
# scaler.scale(loss).backward()
# scaler.step(optimizer)
# '''
# right = '''
# scaler.scale(loss).backward()
# scaler.step(optimizer)
# '''
# fix = "loss.check_gradients"
# requires = ">=2.3"
# affected = { cpu = ">=2.3", cuda = ">=2.3", mps = ">=2.8" }
# ///
"""The scaler checks each gradient for infinities, and asserts that there was one to check
(torch/amp/grad_scaler.py). A loss that is made anew from a number reaches no parameter
(open-mmlab/mmsegmentation#3230), nor does one whose requires_grad was set by hand
(brian6091/Dreambooth#23): backward() is quiet, and step() is the first to notice.
"""

import torch


def train(device, rewrap):
    scaler = torch.amp.GradScaler(device)
    weight = torch.ones(2, device=device, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=0.1)
    loss = weight.sum()
    if rewrap:
        loss = torch.tensor(loss.item(), requires_grad=True, device=device)
    scaler.scale(loss).backward()
    try:
        scaler.step(optimizer)
    except AssertionError as error:
        return str(error)


def reproduce(device):
    return train(device, rewrap=True)


def control(device):
    return train(device, rewrap=False)


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
