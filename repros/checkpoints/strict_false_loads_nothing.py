# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "load_state_dict(strict=False) loads nothing if the keys have a different prefix"
# kind = "silent"
# symptom = "no weight was loaded, and nobody said so"
# origin = "usage"
# reports = [
#     "https://github.com/pytorch/examples/issues/1029",
#     "https://github.com/torchgeo/torchgeo/issues/4036",
# ]
# documents = [
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/nn/modules/module.py",
#     "https://github.com/XuJiacong/PIDNet/issues/30",
# ]
# wrong = '''
# model.load_state_dict(state, strict=False)
# '''
# right = '''
# from torch.nn.modules.utils import consume_prefix_in_state_dict_if_present
# consume_prefix_in_state_dict_if_present(state, "model.")
# model.load_state_dict(state)
# '''
# fix = "checkpoints.load_matching"
# use = '''
# from checkpoints import load_matching
# print(load_matching(model, state))
# '''
# choice = "Use the lines without the fix if every key has the same additional prefix; use the fix if the prefix is unknown, or if only some of the weights fit"
# rule = "note"
# when = "the file and the model have no key in common"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The model predicts as if it had never been trained. Every key in the file begins with `model.`,
so no key is the name of a parameter of this model (pytorch/examples#1029).

Passing strict=False removes the error, not its cause. load_state_dict() returns all keys as
missing_keys and unexpected_keys, but the original code discards this result. Stripping a prefix of
the wrong length has the same effect (XuJiacong/PIDNet#30).
"""

import torch
from torch.nn.modules.utils import consume_prefix_in_state_dict_if_present


def start(device):
    trained = torch.nn.Linear(2, 2).to(device)
    state = {f"model.{key}": value for key, value in trained.state_dict().items()}
    return trained, torch.nn.Linear(2, 2).to(device), state


def check(model, trained):
    if not torch.equal(model.weight, trained.weight):
        return "no weight was loaded, and nobody said so"


def reproduce(device):
    trained, model, state = start(device)
    model.load_state_dict(state, strict=False)
    return check(model, trained)


def control(device):
    trained, model, state = start(device)
    consume_prefix_in_state_dict_if_present(state, "model.")
    model.load_state_dict(state)
    return check(model, trained)


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
