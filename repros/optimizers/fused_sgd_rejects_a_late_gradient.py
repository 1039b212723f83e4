# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Fused SGD with momentum fails for a parameter that gets its first gradient later"
# kind = "error"
# symptom = "expected Tensor as element 1 in argument 2, but got NoneType"
# messages = ["expected Tensor as element \\d{1,9} in argument 2, but got NoneType"]
# origin = "torch"
# documents = ["https://github.com/pytorch/pytorch/blob/v2.13.0/torch/optim/sgd.py"]
# upstream = "unreported"
# wrong = '''
# optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, fused=True)
# '''
# right = '''
# optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
# '''
# requires = ">=2.4"
# affected = { cpu = ">=2.4", cuda = ">=2.4" }
# ///
"""A TypeError occurs in the first step() after a frozen layer has been unfrozen. It also occurs
after a head or an expert has been used for the first time.

The momentum buffers are created only if no parameter with a gradient has a buffer yet. Otherwise,
_fused_sgd passes None as the new parameter's buffer to torch._fused_sgd_(), which accepts only
tensors (torch/optim/sgd.py). The error occurs before any kernel runs, so CUDA should fail in the
same way (not measured).

Nesterov momentum, dampening and weight decay make no difference. SGD works without momentum, with
foreach=True, or with neither foreach nor fused. Fused Adam, AdamW and Adagrad work too. To keep
fused=True, put the parameters that start training at the same time into a separate group (control).

Loading a checkpoint that was saved with fused=True sets fused=True again, and the error returns.
After load_state_dict(), set group["fused"] = None for each group in optimizer.param_groups.
"""

import torch


def start(device):
    model = torch.nn.ModuleDict(
        {name: torch.nn.Linear(1, 1, bias=False, device=device) for name in ("head", "body")}
    )
    torch.nn.init.zeros_(model["head"].weight)
    torch.nn.init.zeros_(model["body"].weight)
    return model


def train(model, optimizer):
    for late in (False, True, True):
        model["body"].requires_grad_(late)
        optimizer.zero_grad()
        (model["head"].weight + model["body"].weight).sum().backward()
        optimizer.step()
    moved = torch.cat([model["head"].weight, model["body"].weight]).flatten()
    expected = -0.1 * torch.tensor([1 + 1.9 + 2.71, 1 + 1.9], device=moved.device)
    if (moved - expected).abs().max() > 1e-4:
        return f"head and body moved by {moved.tolist()} instead of {expected.tolist()}"


def reproduce(device):
    model = start(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, fused=True)
    try:
        return train(model, optimizer)
    except TypeError as error:
        return str(error)


def control(device):
    model = start(device)
    groups = [{"params": layer.parameters()} for layer in model.values()]
    return train(model, torch.optim.SGD(groups, lr=0.1, momentum=0.9, fused=True))


def right(device):
    model = start(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    return train(model, optimizer)


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control, right):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
