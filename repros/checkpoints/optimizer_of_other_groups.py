# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "In a resumed run, an optimizer that leaves out newly frozen layers rejects its saved state"
# kind = "error"
# symptom = "parameter group that doesn't match the size of optimizer's group"
# messages = [
#     "loaded state dict contains a parameter group that doesn.t match the size of optimizer.s group",
#     "loaded state dict has a different number of parameter groups",
# ]
# origin = "design"
# reports = [
#     "https://github.com/allenai/allennlp/issues/5465",
#     "https://github.com/facebookresearch/maskrcnn-benchmark/issues/263",
#     "https://github.com/mli0603/stereo-transformer/issues/58",
# ]
# documents = ["https://github.com/pytorch/pytorch/blob/v2.13.0/torch/optim/optimizer.py"]
# wrong = '''
# model[0].requires_grad_(False)
# optimizer = torch.optim.Adam(p for p in model.parameters() if p.requires_grad)
# optimizer.load_state_dict(state)  # of all parameters
# '''
# right = '''
# optimizer = torch.optim.Adam(model.parameters())
# optimizer.load_state_dict(state)
# model[0].requires_grad_(False)
# optimizer.zero_grad(set_to_none=True)  # gradients of zeros would still move it
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""An optimizer loads its state by position, not by name: it identifies each parameter as the n-th
of its group (torch/optim/optimizer.py). The groups must therefore have the same sizes as when the
state was saved. If frozen layers are left out (allenai/allennlp#5465), the positions of the
parameters after them change.

An optimizer over all parameters accepts the state, and its step skips parameters whose .grad is
None (torch/optim/adam.py). The state includes the learning rate. After loading, set lr, and also
the initial_lr that a scheduler has left in the groups, because a new scheduler starts from
initial_lr. To unfreeze a layer, load the state before you add its parameters with
add_param_group(). The state of a different kind of optimizer does not fit. If the saved optimizer
had more than one group, create the new optimizer with the same groups. Wrap the model in
DistributedDataParallel after freezing, because the wrapper waits for the gradient of every
parameter that it found trainable. If the model has lost or gained parameters
(mli0603/stereo-transformer#58), the load raises the same error. The optimizer then has to start
without a state.
"""

import torch


def start(device):
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)).to(device)
    optimizer = torch.optim.Adam(model.parameters())
    step(model, optimizer)
    return model, optimizer


def step(model, optimizer):
    optimizer.zero_grad(set_to_none=False)  # the default before torch 2.0
    model(torch.ones(1, 2, device=model[0].weight.device)).sum().backward()
    optimizer.step()


def reproduce(device):
    model, saved = start(device)
    state = saved.state_dict()
    try:
        model[0].requires_grad_(False)
        optimizer = torch.optim.Adam(p for p in model.parameters() if p.requires_grad)
        optimizer.load_state_dict(state)
    except ValueError as error:
        return str(error)


def control(device):
    model, saved = start(device)
    state, frozen = saved.state_dict(), model[0].weight.tolist()
    optimizer = torch.optim.Adam(model.parameters())
    optimizer.load_state_dict(state)
    model[0].requires_grad_(False)
    optimizer.zero_grad(set_to_none=True)
    step(model, optimizer)
    if model[0].weight.tolist() != frozen:
        return "the frozen layer has moved"
    if optimizer.state[model[1].weight]["step"] != 2:
        return "the other layer did not go on from its state"


def messages(device):
    weight = torch.ones(1, device=device, requires_grad=True)
    state = torch.optim.Adam([weight]).state_dict()
    try:
        torch.optim.Adam([{"params": [weight]}, {"params": []}]).load_state_dict(state)
    except ValueError as error:
        return str(error)


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
