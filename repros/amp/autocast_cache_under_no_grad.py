# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A no_grad forward first in the same autocast block loses the whole graph"
# kind = "error"
# symptom = "element 0 of tensors does not require grad"
# messages = ["element \\d{1,9} of tensors does not require grad and does not have a grad_fn"]
# origin = "usage"
# reports = ["https://github.com/pytorch/pytorch/issues/112583", "https://github.com/pytorch/pytorch/issues/158232"]
# documents = ["https://github.com/pytorch/pytorch/pull/165068"]
# wrong = '''
# TODO
# '''
# fix = "amp.choose_precision"
# affected = { cpu = "<2.11", cuda = "<2.11" }
# ///
"""autocast caches the low-precision copy of each weight until its block ends, gradient
mode or not.

A forward under no_grad (validation, a frozen pass, a diagnostic) fills the cache with
copies that have no grad_fn, and the training forward in the same block reuses them
(aten/src/ATen/autocast_mode.cpp). Fixed in torch 2.11.
"""

import torch


def train(device, cache_enabled=True):
    model, x = torch.nn.Linear(4, 1).to(device), torch.ones(2, 4, device=device)
    with torch.autocast(device, torch.bfloat16, cache_enabled=cache_enabled):
        with torch.no_grad():
            model(x)
        return model, model(x).sum()


def reproduce(device):
    _, loss = train(device)
    try:
        loss.backward()
    except RuntimeError as error:
        return str(error)


def control(device):
    train(device, cache_enabled=False)[1].backward()


def popular_fix(device):
    model, loss = train(device)
    loss.requires_grad_().backward()
    if model.weight.grad is None:
        return "backward() is quiet now, and no parameter has a gradient"


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control, popular_fix):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
