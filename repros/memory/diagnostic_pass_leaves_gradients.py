# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A diagnostic backward pass before training leaves a gradient for every trainable parameter"
# kind = "leak"
# symptom = "MiB of gradients"
# origin = "design"
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.Tensor.backward.html",
#     "https://docs.pytorch.org/docs/stable/generated/torch.optim.Optimizer.zero_grad.html",
#     "https://github.com/karpathy/nanoGPT/pull/71",
# ]
# wrong = '''
# criterion(model(x), y).backward()
# norm = sum(p.grad.norm() ** 2 for p in model.parameters() if p.grad is not None) ** 0.5
# '''
# right = '''
# held = [None if p.grad is None else p.grad.clone() for p in model.parameters()]
# model.zero_grad(set_to_none=True)
# criterion(model(x), y).backward()
# norm = sum(p.grad.norm() ** 2 for p in model.parameters() if p.grad is not None) ** 0.5
# for p in model.parameters():
#     p.grad = held.pop(0)
# '''
# fix = "memory.scratch_gradients"
# use = '''
# from memory import scratch_gradients
# with scratch_gradients(model):
#     criterion(model(x), y).backward()
#     norm = sum(p.grad.norm() ** 2 for p in model.parameters() if p.grad is not None) ** 0.5
# '''
# choice = "Normally, use the lines without the fix; use the fix if the pass may raise an error, because the fix restores the gradients even then"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""After the pass, the gradients use as much memory as the parameters, and the next backward pass
adds to them (docs: torch.Tensor.backward). They stay until zero_grad(set_to_none=True) drops them
(karpathy/nanoGPT#71). This call also drops the gradients that an accumulation window has collected
so far.

torch.autograd.grad() leaves .grad unchanged, but bypasses the reduction of DDP, so each rank has a
different norm. It also raises an error if the model has a reentrant checkpoint. Any diagnostic pass
still changes the running statistics of BatchNorm in training mode. With Dropout, the pass draws
random numbers, which changes later draws in training. To restore the generators, wrap the pass in
torch.random.fork_rng(). The corrected lines restore the model's gradients, but not the gradients of
a criterion that has parameters.
"""

import torch


def start(device):
    model = torch.nn.Linear(1024, 1024).to(device)
    x, y = torch.ones(1, 1024, device=device), torch.zeros(1, 1024, device=device)
    return model, x, y, torch.nn.functional.mse_loss


def check(model, x, y, norm):
    held = sum(4 * one.grad.numel() for one in model.parameters() if one.grad is not None)
    if held:
        return f"{held / 2**20:.0f} MiB of gradients held"
    error = 2 * (model(x) - y) / 1024  # the gradient of the bias, and of each column of the weight
    expected = (error.norm() * 1025**0.5).item()
    if abs(norm.item() - expected) > 1e-3 * expected:
        return f"the norm of the gradient is {norm.item()}, not {expected}"


def reproduce(device):
    model, x, y, criterion = start(device)
    criterion(model(x), y).backward()
    norm = sum(p.grad.norm() ** 2 for p in model.parameters() if p.grad is not None) ** 0.5
    return check(model, x, y, norm)


def control(device):
    model, x, y, criterion = start(device)
    held = [None if p.grad is None else p.grad.clone() for p in model.parameters()]
    model.zero_grad(set_to_none=True)
    criterion(model(x), y).backward()
    norm = sum(p.grad.norm() ** 2 for p in model.parameters() if p.grad is not None) ** 0.5
    for p in model.parameters():
        p.grad = held.pop(0)
    return check(model, x, y, norm)


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
