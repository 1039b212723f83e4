# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A parameter without a gradient in one compiled optimizer step is never updated again"
# kind = "silent"
# symptom = "the parameter stays at 0.8"
# origin = "torch"
# reports = ["https://github.com/pytorch/pytorch/issues/115607"]
# documents = ["https://github.com/pytorch/pytorch/pull/121291"]
# fixed_by = "pytorch#121291"
# wrong = '''
# step = torch.compile(optimizer.step, backend=backend)
# '''
# right = '''
# step = optimizer.step  # compile it from torch 2.3 on
# '''
# fix = "upgrade"
# requires = ">=2.1"
# affected = { cpu = "<2.3", cuda = "<2.3" }
# timeout = 120
# ///
"""After a branch of the model is left out of one step, this branch no longer trains, but the rest
of the model does.

zero_grad() sets the gradients to None, and Dynamo compiles a step without that parameter. No guard
checked whether a gradient is None, so this compiled step is used from then on (pytorch#121291). It
is not enough to skip steps in which no parameter has a gradient: a single parameter without a
gradient causes the failure. If the gradient is zero instead of None, momentum, weight decay and
Adam move the parameter.
"""

import torch


def train(compiled, device, backend="eager"):
    always, sometimes = (torch.nn.Parameter(torch.ones((), device=device)) for _ in range(2))
    optimizer = torch.optim.SGD([always, sometimes], lr=0.1)
    step = compiled(optimizer, backend)
    for number in range(5):
        optimizer.zero_grad()
        (always if number == 2 else always + sometimes).backward()
        step()
    if abs(always.item() - 0.5) > 1e-4:
        return f"the other parameter is {always.item():.1f} instead of 0.5"
    if abs(sometimes.item() - 0.6) > 1e-4:
        return f"the parameter stays at {sometimes.item():.1f}"


def compile_step(optimizer, backend):
    step = torch.compile(optimizer.step, backend=backend)
    return step


def plain_step(optimizer, backend):
    step = optimizer.step  # compile it from torch 2.3 on
    return step


def reproduce(device):
    torch._dynamo.reset()
    return train(compile_step, device)


def control(device):
    return train(plain_step, device)


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
