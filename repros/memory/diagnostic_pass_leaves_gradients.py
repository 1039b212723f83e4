# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A diagnostic backward before training leaves a gradient for every parameter"
# kind = "leak"
# symptom = "MiB of gradients"
# origin = "usage"
# reports = ["https://github.com/pytorch/pytorch/issues/27600"]
# documents = ["https://pytorch.org/docs/stable/generated/torch.optim.Optimizer.zero_grad.html", "https://pytorch.org/docs/stable/notes/faq.html"]
# wrong = '''
# TODO
# '''
# fix = "memory.scratch_gradients"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""param.grad is a live reference: neither gc.collect() nor empty_cache() frees it, and
the first real step adds to it.

It is as large as the model. zero_grad(set_to_none=False) keeps the memory and only
writes zeros.
"""

import gc

import torch


def left_after(device, clean_up):
    model = torch.nn.Linear(1024, 1024).to(device)
    model(torch.ones(1, 1024, device=device)).sum().backward()  # the diagnostic pass
    clean_up(model)
    held = sum(
        parameter.grad.numel() * 4 for parameter in model.parameters() if parameter.grad is not None
    )
    if held:
        return f"{held / 2**20:.0f} MiB of gradients held"


def reproduce(device):
    return left_after(device, lambda model: None)


def control(device):
    return left_after(device, lambda model: model.zero_grad(set_to_none=True))


def popular_fix(device):
    return left_after(device, lambda model: (gc.collect(), torch.cuda.empty_cache()))


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
