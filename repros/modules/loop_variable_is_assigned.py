# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Assigning to the loop variable over parameters() changes no weight"
# kind = "silent"
# symptom = "the model keeps its own weights"
# origin = "usage"
# documents = ["https://github.com/YU1ut/MixMatch-pytorch/pull/23"]
# wrong = '''
# for parameter, mean in zip(model.parameters(), ema.parameters()):
#     parameter = mean
# '''
# right = '''
# with torch.no_grad():
#     for parameter, mean in zip(model.parameters(), ema.parameters()):
#         parameter.copy_(mean)
# '''
# rule = "error"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The loop runs without an error, and the model computes the same as before.

An assignment gives the name to another tensor and leaves the tensor in the model as it is. The same
applies to parameter = parameter * mask, parameter = torch.zeros_like(parameter) and any other
expression that creates a new tensor (YU1ut/MixMatch-pytorch#23). By contrast, copy_() changes the
values in place, so the optimizer, tied weights and views still refer to the same tensor. Do not
write parameter.data = mean.data: both models would share one tensor afterwards. If one model is
shorter, zip() stops at its end without an error. Buffers, such as the statistics of BatchNorm, need
a second loop over buffers(). Alternatively, model.load_state_dict(ema.state_dict()) copies
parameters and buffers. The corrected code overwrites the model's own weights: to evaluate `ema`
during training, call `ema` instead.
"""

import torch


def assigned(model, ema):
    for parameter, mean in zip(model.parameters(), ema.parameters()):
        parameter = mean  # noqa: F841


def copied(model, ema):
    with torch.no_grad():
        for parameter, mean in zip(model.parameters(), ema.parameters()):
            parameter.copy_(mean)


def check(device, update):
    model, ema = torch.nn.Linear(2, 1).to(device), torch.nn.Linear(2, 1).to(device)
    for tensor, value in zip((*model.parameters(), *ema.parameters()), (1.0, 1.0, 2.0, 3.0)):
        torch.nn.init.constant_(tensor, value)
    x = torch.ones(1, 2, device=device)
    update(model, ema)
    output = model(x).item()
    if output == 3.0:
        return "the model keeps its own weights"
    ema.weight.data.zero_()
    if output != 7.0 or model(x).item() != 7.0:
        return "the model has other weights, or shares them"


def reproduce(device):
    return check(device, assigned)


def control(device):
    return check(device, copied)


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
