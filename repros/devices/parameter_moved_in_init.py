# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "nn.Parameter(...).to(device) with a different device is no longer a parameter"
# kind = "silent"
# symptom = "the model has 0 parameters"
# messages = ["can.t optimize a non-leaf Tensor"]
# origin = "design"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/17484",
#     "https://github.com/pytorch/pytorch/issues/20089",
#     "https://github.com/pytorch/pytorch/issues/94828",
#     "https://github.com/mazzzystar/randomCNN-voice-transfer/issues/16",
# ]
# documents = ["https://github.com/pytorch/pytorch/issues/9303"]
# wrong = '''
# self.weight = torch.nn.Parameter(torch.ones(3)).to(device)
# '''
# right = '''
# self.weight = torch.nn.Parameter(torch.ones(3, device=device))
# '''
# rule = "warning"
# when = "the parameter is moved to another device"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# stand_in = { cpu = "the meta device for a GPU: moving a tensor there creates another tensor" }
# ///
"""The forward pass works, but an optimizer over model.parameters() never sees the weight. If the
parameter is on another device, to() returns an ordinary tensor computed from the parameter
(pytorch#9303), so the module does not register it. On the CPU, to() has nothing to do and returns
the parameter itself. However, half(), double() or a multiplication causes the same failure on the
CPU too.

If the tensor is passed to an optimizer directly, the optimizer raises "can't optimize a non-leaf
Tensor" (mazzzystar/randomCNN-voice-transfer#16). A ParameterList turns the tensor back into a
parameter.
"""

import torch


class Moved(torch.nn.Module):
    def __init__(self, device):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(3)).to(device)


class Net(torch.nn.Module):
    def __init__(self, device):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(3, device=device))


def count(device, module):
    model = module("meta" if device == "cpu" else device)
    names = [name for name, _ in model.named_parameters()]
    if names != ["weight"] or not model.weight.is_leaf:
        return f"the model has {len(names)} parameters"


def reproduce(device):
    return count(device, Moved)


def control(device):
    return count(device, Net)


def messages(device):
    model = Moved("meta" if device == "cpu" else device)
    try:
        torch.optim.SGD([model.weight], lr=0.1)
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
