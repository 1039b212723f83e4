# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A Parameter that is scaled, cast or moved in __init__ is no parameter any more"
# kind = "silent"
# symptom = "the model has 0 parameters"
# keywords = [
#     "nn.Parameter().to(device)",
#     "nn.Parameter().cuda()",
#     "parameter not registered",
#     "state_dict is empty",
#     "custom weight does not train",
#     "my learnable scale stays at its initial value",
#     "custom weight not in the optimizer",
#     "learnable temperature or alpha never changes",
#     "parameter count is zero for my custom layer",
#     "nn.Parameter multiplied by 0.01 does not learn",
#     "grad of my own weight is always None",
#     "class token or positional embedding missing from the checkpoint",
#     "trains on my laptop CPU but not with cuda",
#     "learned queries are the same after training",
#     "custom layer's weight not listed in named_parameters",
#     "nn.Parameter with .half() or .double() not updated",
#     "trainable threshold does not move",
# ]
# origin = "design"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/17484",
#     "https://github.com/pytorch/pytorch/issues/20089",
#     "https://github.com/pytorch/pytorch/issues/39062",
#     "https://github.com/shenweichen/DeepCTR-Torch/issues/87",
# ]
# documents = ["https://github.com/pytorch/pytorch/issues/9303"]
# wrong = '''
# self.weight = Parameter(torch.ones(2)).half()
# '''
# right = '''
# self.weight = Parameter(torch.ones(2).half())
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The weight is used in the forward, and is missing from parameters() and state_dict().

What an operation on a Parameter returns is a plain tensor that depends on it, and a
module registers only a Parameter (pytorch#9303). A cast or a product does it on every
device, to(device) and cuda() where they copy (pytorch#17484, pytorch#20089): such a model
works on the CPU and not on a GPU.
"""

import torch
from torch.nn import Parameter


class After(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = Parameter(torch.ones(2)).half()


class Before(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = Parameter(torch.ones(2).half())


def count(device, module):
    parameters = len(list(module().to(device).parameters()))
    if not parameters:
        return f"the model has {parameters} parameters"


def reproduce(device):
    return count(device, After)


def control(device):
    return count(device, Before)


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
