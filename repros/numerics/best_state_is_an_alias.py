# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "The saved best state turns out to be the last state"
# kind = "silent"
# symptom = "best state changed with training"
# keywords = ["checkpoint in memory is overwritten", "restored model is not the best"]
# origin = "usage"
# reports = ["https://github.com/pytorch/pytorch/issues/196083"]
# documents = ["https://pytorch.org/docs/stable/notes/serialization.html"]
# wrong = '''
# TODO
# '''
# fix = "numerics.Snapshot"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""state_dict() returns references: training goes on writing into the very tensors that
were "saved".

dict(), .copy(), detach() and, for a model on the CPU, .cpu() copy the dictionary or
nothing, not the values. clone(), deepcopy() and torch.save() do.
"""

import copy

import torch


def save(device, keep):
    model = torch.nn.Linear(1, 1).to(device)
    best = keep(model.state_dict())
    before = {name: value.clone() for name, value in best.items()}
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.fill_(float("nan"))  # training goes wrong
    if any(not torch.equal(best[name], before[name]) for name in before):
        return "the best state changed with training: it is nan now"


def reproduce(device):
    return save(device, keep=lambda state: state)


def control(device):
    return save(device, keep=copy.deepcopy)


def popular_fix(device):
    return save(device, keep=lambda state: {name: value.detach() for name, value in state.items()})


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
