# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A squared norm of scaled gradients is too large by a factor of scale ** 2, at first 65536 ** 2"
# kind = "silent"
# symptom = "the penalty is 4e\\+09 times too large"
# origin = "design"
# documents = [
#     "https://docs.pytorch.org/docs/stable/notes/amp_examples.html#gradient-penalty",
#     "https://github.com/pytorch/pytorch/pull/26512",
# ]
# wrong = '''
# grads = torch.autograd.grad(scaler.scale(loss), parameters, create_graph=True)
# loss = loss + sum(g.square().sum() for g in grads)
# '''
# right = '''
# grads = torch.autograd.grad(scaler.scale(loss), parameters, create_graph=True)
# scale = scaler.get_scale()
# grads = [g / scale for g in grads]
# loss = loss + sum(g.square().sum() for g in grads)
# '''
# requires_on = { cpu = ">=2.3" }
# affected = { cpu = ">=2.3", cuda = ">=1.13" }
# ///
"""Training follows the penalty alone, and the penalty's weight in the loss changes whenever the
scale changes.

scale() is meant for losses whose gradients step() later divides by the scale. Nothing divides the
gradients that autograd.grad() returns (docs: automatic mixed precision examples). get_scale()
returns 1.0 if the scaler is disabled. Divide the gradients before you compute their norm, and scale
the sum of loss and penalty for backward() as usual. With autocast in float16, small gradients
become 0 without the scale, even the gradients of float32 weights. In float32 or bfloat16,
autograd.grad(loss, ...) alone is enough.
"""

import torch

if hasattr(torch.amp, "GradScaler"):
    GradScaler = torch.amp.GradScaler
else:  # before torch 2.3, for CUDA alone

    def GradScaler(device, enabled=True):
        return torch.cuda.amp.GradScaler(enabled=enabled)


def start(device, enabled=True):
    model = torch.nn.Linear(2, 1).to(device)
    torch.nn.init.ones_(model.weight)
    torch.nn.init.zeros_(model.bias)
    loss = model(torch.ones(1, 2, device=device)).square().mean()  # 4, its gradient is [4, 4, 4]
    scaler = GradScaler(device, enabled=enabled)
    return scaler, loss, list(model.parameters())


def check(scaler, loss, parameters):
    factor = (loss.item() - 4) / 48
    if factor > 1e6:
        return f"the penalty is {factor:.0e} times too large"
    optimizer = torch.optim.SGD(parameters, lr=1.0)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    weight, bias = parameters
    # The loss is y^2 + 3 (2y)^2 = 13 y^2 with y = w1 + w2 + b = 2, so each gradient is 26 y.
    if weight.grad.tolist() != [[52.0, 52.0]] or bias.grad.tolist() != [52.0]:
        return f"the gradients are {weight.grad.tolist()}, {bias.grad.tolist()}"


def reproduce(device):
    scaler, loss, parameters = start(device)
    grads = torch.autograd.grad(scaler.scale(loss), parameters, create_graph=True)
    loss = loss + sum(g.square().sum() for g in grads)
    return check(scaler, loss, parameters)


def control(device):
    for enabled in (True, False):
        scaler, loss, parameters = start(device, enabled)
        grads = torch.autograd.grad(scaler.scale(loss), parameters, create_graph=True)
        scale = scaler.get_scale()
        grads = [g / scale for g in grads]
        loss = loss + sum(g.square().sum() for g in grads)
        if seen := check(scaler, loss, parameters):
            return seen


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
