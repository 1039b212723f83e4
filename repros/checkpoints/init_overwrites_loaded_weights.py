# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Initializing the weights after load_state_dict() discards the loaded weights"
# kind = "silent"
# symptom = "the loaded weights are gone"
# origin = "usage"
# reports = ["https://github.com/huggingface/picotron/issues/32"]
# documents = [
#     "https://github.com/zshn25/DINOv2_mmseg/pull/1",
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html",
# ]
# wrong = '''
# model.load_state_dict(state)
# model.apply(init_weights)
# '''
# right = '''
# model.apply(init_weights)
# model.load_state_dict(state)
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""Loading reports that all keys match, but training starts as if from scratch.

apply() calls init_weights for every module, including those with loaded weights (docs:
torch.nn.Module.apply). The call can be hidden in the constructor of a trainer, or in a setup for
distributed training (huggingface/picotron#32). It can also be in a runner that calls init_weights()
before the first step (zshn25/DINOv2_mmseg#1). In the corrected order, a new head that strict=False
does not load keeps its initialization. To check, compare a weight with the checkpoint right before
the first step.
"""

import torch


def init_weights(module):
    if isinstance(module, torch.nn.Linear):
        torch.nn.init.constant_(module.weight, 0.5)  # a constant instead of random numbers
        torch.nn.init.zeros_(module.bias)


def load_first(model, state):
    model.load_state_dict(state)
    model.apply(init_weights)


def load_last(model, state):
    model.apply(init_weights)
    model.load_state_dict(state)


def start(device):
    layers = torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2), torch.nn.Linear(2, 1)
    return torch.nn.Sequential(*layers).to(device)


def check(device, prepare):
    trained, model = start(device), start(device)
    prepare(model, trained.state_dict())
    if model[0].weight.eq(0.5).all():
        return "the loaded weights are gone"
    x = torch.arange(6.0, device=device).view(3, 2)
    if not model(x).equal(trained(x)):
        return "the outputs differ from those of the trained model"


def reproduce(device):
    return check(device, load_first)


def control(device):
    return check(device, load_last)


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
