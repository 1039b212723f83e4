# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Adagrad raises KeyError for parameters added by add_param_group()"
# kind = "error"
# symptom = "KeyError\\('sum'\\)"
# messages = ["state_sums\\.append\\(.{0,200}?KeyError: 'sum'"]
# origin = "torch"
# reports = ["https://github.com/pytorch/pytorch/issues/53712"]
# documents = [
#     "https://github.com/pytorch/pytorch/pull/177672",
#     "https://github.com/pytorch/pytorch/pull/53692",
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/optim/adagrad.py",
# ]
# fixed_by = "pytorch#177672"
# wrong = '''
# optimizer.add_param_group({"params": backbone.parameters()})
# '''
# right = '''
# optimizer.add_param_group({"params": backbone.parameters()})
# optimizer.state.update(torch.optim.Adagrad(backbone.parameters()).state)  # as it makes none
# '''
# affected = { cpu = "<2.12", cuda = "<2.12", mps = "<2.12" }
# ///
"""If parameters are added to Adagrad later, for example to unfreeze layers, step() fails.

Adagrad was the only optimizer that created its state in the constructor (pytorch#53692), so a group
that was added later had no state. Now step() creates missing state (torch/optim/adagrad.py). In the
corrected code, another Adagrad over the same parameters creates the state. If the first Adagrad has
an initial_accumulator_value, pass the same value to the other Adagrad.

The same message has two other causes, which this code does not fix. The loaded state may lack the
parameter, or a new parameter may have replaced an old one in param_groups.

Passing a frozen layer to the optimizer from the start also avoids the KeyError. However,
DistributedDataParallel ignores a layer that was frozen when the model was wrapped, so the ranks
drift apart once the layer is unfrozen.
"""

import traceback

import torch


def start(device):
    head, backbone = (torch.nn.Linear(1, 1, bias=False, device=device) for _ in range(2))
    optimizer = torch.optim.Adagrad(head.parameters())
    before = [layer.weight.item() for layer in (head, backbone)]
    step(head, backbone, optimizer)
    return head, backbone, optimizer, before


def step(head, backbone, optimizer):
    for layer in (head, backbone):
        layer.zero_grad()
    (head.weight + backbone.weight).sum().backward()
    optimizer.step()


def check(head, backbone, optimizer, before):
    step(head, backbone, optimizer)
    moved = [old - layer.weight.item() for old, layer in zip(before, (head, backbone))]
    if abs(moved[0] - 0.01 * (1 + 0.5**0.5)) > 1e-4 or abs(moved[1] - 0.01) > 1e-4:
        return f"head and backbone moved by {moved}"


def reproduce(device):
    head, backbone, optimizer, before = start(device)
    optimizer.add_param_group({"params": backbone.parameters()})
    try:
        return check(head, backbone, optimizer, before)
    except KeyError as error:
        return repr(error)


def control(device):
    head, backbone, optimizer, before = start(device)
    optimizer.add_param_group({"params": backbone.parameters()})
    optimizer.state.update(torch.optim.Adagrad(backbone.parameters()).state)  # as it makes none
    return check(head, backbone, optimizer, before)


def messages(device):
    head, backbone, optimizer, before = start(device)
    optimizer.add_param_group({"params": backbone.parameters()})
    try:
        check(head, backbone, optimizer, before)
    except KeyError:
        return traceback.format_exc()


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
