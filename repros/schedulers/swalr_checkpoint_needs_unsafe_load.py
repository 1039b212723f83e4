# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A checkpoint with the state of SWALR cannot be loaded with weights_only"
# kind = "error"
# symptom = "(class __builtin__\\.|GLOBAL (builtins\\.)?)getattr"
# messages = [
#     "GLOBAL (builtins\\.)?getattr was not an allowed global by default",
#     "Unsupported class __builtin__\\.getattr",
# ]
# keywords = [
#     "cannot load checkpoint after torch 2.6",
#     "SWA resume from checkpoint",
#     "checkpoint with SWA scheduler does not load any more",
#     "resume of stochastic weight averaging fails after upgrade",
#     "scheduler state blocks loading the checkpoint",
#     "torch load refuses my own checkpoint with SWALR",
# ]
# origin = "torch"
# reports = ["https://github.com/pytorch/pytorch/issues/163105"]
# documents = [
#     "https://github.com/pytorch/pytorch/pull/163122",
#     "https://github.com/pytorch/pytorch/pull/123775",
# ]
# fixed_by = "pytorch#163122"
# wrong = '''
# torch.save(scheduler.state_dict(), file)
# state = torch.load(file, weights_only=True)
# '''
# right = '''
# state = scheduler.state_dict()
# state.pop("anneal_func", None)
# torch.save(state, file)
# '''
# fix = "upgrade"
# requires = ">=2.0"
# affected = { cpu = ">=2.0,<2.10", cuda = ">=2.0,<2.10", mps = ">=2.0,<2.10" }
# ///
"""torch.load() refuses a checkpoint that torch itself has written.

The state of SWALR holds its annealing function, and weights_only, the default since
2.6, does not load functions (pytorch#163105). OneCycleLR had the same fault until
pytorch#123775. With weights_only, 1.13 loads no floats either and so cannot tell.
"""

import io
import pickle

import torch


def reload(device, drop):
    weight = torch.zeros(1, device=device, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=1.0)
    state = torch.optim.swa_utils.SWALR(optimizer, swa_lr=0.1).state_dict()
    if drop:
        state.pop("anneal_func", None)
    file = io.BytesIO()
    torch.save(state, file)
    file.seek(0)
    torch.load(file, weights_only=True)


def reproduce(device):
    try:
        reload(device, drop=False)
    except pickle.UnpicklingError as error:
        return str(error)


def control(device):
    reload(device, drop=True)


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
