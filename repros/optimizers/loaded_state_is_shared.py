# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "An optimizer that loads the state of another optimizer shares the momentum buffers with it"
# kind = "silent"
# symptom = "momentum of the source is \\d+\\.\\d after a step of the copy, not 1.0"
# origin = "torch"
# reports = ["https://github.com/pytorch/pytorch/issues/196083"]
# documents = [
#     "https://github.com/pytorch/pytorch/pull/106082",
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/optim/optimizer.py",
# ]
# wrong = '''
# clone.load_state_dict(source.state_dict())
# '''
# right = '''
# from copy import deepcopy
# clone.load_state_dict(deepcopy(source.state_dict()))
# '''
# fix = "optimizers.load_optimizer_state"
# use = '''
# from optimizers import load_optimizer_state
# load_optimizer_state(clone, source.state_dict())
# '''
# choice = "Use the lines without the fix if both optimizers hold parameters of the same shapes; use the fix if the state might not fit"
# affected = { cpu = ">=2.1", cuda = ">=2.1", mps = ">=2.1" }
# ///
"""If one optimizer has loaded another optimizer's state, a step of one changes the momentum of the
other.

state_dict() returns the state's own tensors. Up to 2.0, load_state_dict() made a deep copy of these
tensors. To save memory, it now copies only the dictionary (pytorch#106082). Despite its docstring,
"Make a deep copy of value", _cast() returns the tensor itself if the tensor's dtype and device are
already right (torch/optim/optimizer.py, pytorch#196083). The step counter of Adam is shared even if
the dtype differs. A checkpoint that went through torch.save() is safe (pytorch#196083), but only
the first time: two optimizers that load the same dictionary from torch.load() share its tensors.

If the optimizer that the state comes from continues to train, copy the state as soon as you save
it. By the time it is loaded, it has already changed, even before 2.1.
"""

from copy import deepcopy

import torch


def start(device):
    optimizers = []
    for gradient in (1.0, 100.0):
        weight = torch.zeros(1, device=device, requires_grad=True)
        optimizers.append(torch.optim.SGD([weight], lr=0.1, momentum=0.9))
        (weight * gradient).sum().backward()
    source, clone = optimizers
    source.step()
    return source, clone


def check(source, clone):
    clone.step()
    momenta = [o.state_dict()["state"][0]["momentum_buffer"].item() for o in (source, clone)]
    if momenta[0] != 1:  # its own gradient
        return f"momentum of the source is {momenta[0]:.1f} after a step of the copy, not 1.0"
    if abs(momenta[1] - 100.9) > 0.01:
        return f"momentum of the copy is {momenta[1]:.1f}, not 100 + 0.9 * 1"


def reproduce(device):
    source, clone = start(device)
    clone.load_state_dict(source.state_dict())
    return check(source, clone)


def control(device):
    source, clone = start(device)
    clone.load_state_dict(deepcopy(source.state_dict()))
    return check(source, clone)


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
