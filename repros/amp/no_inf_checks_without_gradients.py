# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "GradScaler's step() or update() fails if no parameter of the optimizer has a gradient"
# kind = "error"
# symptom = "No inf checks were recorded for this optimizer"
# messages = [
#     "No inf checks were recorded for this optimizer",
#     "No inf checks were recorded prior to update",
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
# scaler.update()
# '''
# right = '''
# scaler.scale(loss).backward()
# scaler.step(optimizer)
# scaler.update()
# '''
# requires_on = { cpu = ">=2.3", mps = ">=2.3" }
# affected = { cpu = ">=2.3", cuda = ">=1.13", mps = ">=2.8" }
# ///
"""The scaler checks each gradient for infinities, and asserts that it checked at least one
(torch/amp/grad_scaler.py). A loss that is recreated from a number does not reach any parameter
(open-mmlab/mmsegmentation#3230). A loss whose requires_grad was set by hand does not reach any
parameter either (brian6091/Dreambooth#23). In both cases, backward() succeeds, and step() is the
first call to raise an error. A fused optimizer checks its gradients itself: step() does nothing,
and then update() raises the error, unless another optimizer of the same scaler had gradients.
update() also raises this error if step() was not called before it.

Calling zero_grad() between backward() and step() has the same effect, because zero_grad() sets the
gradients to None. With set_to_none=False, the default before 2.0, the gradients are zeros. In that
case, no error is raised, and only momentum and weight decay move the weights
(torch/optim/optimizer.py). With two optimizers, step() also raises the error for the optimizer
whose parameters this loss does not reach, so call scaler.step() only for the other optimizer. An
optimizer that holds the parameters of a copy of the model causes the error too.
"""

import torch


def make_scaler(device):
    if hasattr(torch.amp, "GradScaler"):
        return torch.amp.GradScaler(device)
    return torch.cuda.amp.GradScaler()  # before torch 2.3, for CUDA alone


def start(device):
    weight = torch.zeros(2, device=device, requires_grad=True)
    return weight, torch.optim.SGD([weight], lr=0.5), make_scaler(device), weight.sum()


def reproduce(device):
    _, optimizer, scaler, loss = start(device)
    try:
        loss = torch.tensor(loss.item(), requires_grad=True)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
    except AssertionError as error:
        return str(error)


def control(device):
    weight, optimizer, scaler, loss = start(device)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    if weight.tolist() != [-0.5, -0.5]:
        return f"the weight is {weight.tolist()} instead of [-0.5, -0.5]"


def messages(device):
    weight, optimizer, scaler, loss = start(device)
    scaler.scale(loss).backward()
    optimizer.zero_grad(set_to_none=True)
    texts = []  # before torch 2.3, SGD had no fused=True
    kind = torch.optim.SGD if hasattr(torch.amp, "GradScaler") else torch.optim.Adam
    for each in (optimizer, kind([weight], lr=0.5, fused=True)):
        try:
            scaler.step(each)
            scaler.update()
        except AssertionError as error:
            texts.append(str(error))
    return "\n".join(texts)


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
