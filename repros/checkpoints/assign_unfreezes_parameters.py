# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "load_state_dict(assign=True) makes frozen parameters trainable"
# kind = "silent"
# symptom = "the frozen weight requires gradients after loading"
# origin = "torch"
# documents = ["https://github.com/pytorch/pytorch/blob/v2.2.2/torch/nn/modules/module.py"]
# fixed_by = "pytorch#121157"
# upstream = "unreported"
# wrong = '''
# model.requires_grad_(False)
# model.load_state_dict(state, assign=True)
# '''
# right = '''
# model.load_state_dict(state, assign=True)
# model.requires_grad_(False)
# '''
# fix = "upgrade"
# requires = ">=2.1"
# affected = { cpu = ">=2.1,<2.3", cuda = ">=2.1,<2.3", mps = ">=2.1,<2.3" }
# ///
"""If a frozen model's weights are loaded with assign=True, the model gets gradients again. An
optimizer that is created after the load trains it.

load_state_dict() wraps each tensor of the dict in a new Parameter, which requires gradients even if
the parameter that it replaces does not (torch/nn/modules/module.py). Since the upstream fix, the
new Parameter keeps the old Parameter's requires_grad (pytorch#121157). If only part of the model is
frozen, repeat requires_grad_(False) for that part after the load.
"""

import torch


def start(device):
    model = torch.nn.Linear(2, 2).to(device)
    return model, torch.nn.Linear(2, 2).to(device).state_dict()


def check(model, state):
    if model.weight.requires_grad or model.bias.requires_grad:
        return "the frozen weight requires gradients after loading"
    if not torch.equal(model.weight, state["weight"]):
        return "the weights are not those of the state"


def reproduce(device):
    model, state = start(device)
    model.requires_grad_(False)
    model.load_state_dict(state, assign=True)
    return check(model, state)


def control(device):
    model, state = start(device)
    model.requires_grad_(False)
    model.load_state_dict(state, assign=False)
    return check(model, state)


def right(device):
    model, state = start(device)
    model.load_state_dict(state, assign=True)
    model.requires_grad_(False)
    return check(model, state)


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
