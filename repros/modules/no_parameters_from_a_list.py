# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "An optimizer for a model whose layers are all in a list gets no parameters"
# kind = "error"
# symptom = "optimizer got an empty parameter list"
# messages = ["optimizer got an empty parameter list"]
# origin = "design"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/59925",
#     "https://github.com/Lightning-AI/pytorch-lightning/issues/2282",
#     "https://github.com/Lightning-AI/pytorch-lightning/issues/6554",
# ]
# documents = ["https://docs.pytorch.org/docs/stable/generated/torch.nn.ModuleList.html"]
# wrong = '''
# self.layers = [Linear(2, 2), Linear(2, 2)]
# '''
# right = '''
# self.layers = ModuleList([Linear(2, 2), Linear(2, 2)])
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# retired = "the failure is the same as in modules/layers_in_a_list_never_train, which has the message"
# ///
"""The forward pass works, but the optimizer finds nothing to train.

A module registers only the modules and parameters that are assigned to it. It registers neither
layers in a list (pytorch#59925), nor layers in a local variable
(Lightning-AI/pytorch-lightning#2282), nor layers created in forward()
(Lightning-AI/pytorch-lightning#6554). Passing list(model.parameters()), as tried in
Lightning-AI/pytorch-lightning#2282, does not help, because this list is empty as well.
"""

import torch
from torch.nn import Linear, ModuleList


class Net(torch.nn.Module):
    def __init__(self, container):
        super().__init__()
        self.layers = container([Linear(2, 2), Linear(2, 2)])


def configure(device, container, parameters_of=Net.parameters):
    model = Net(container).to(device)
    try:
        torch.optim.SGD(parameters_of(model), lr=0.1)
    except ValueError as error:
        return str(error)


def reproduce(device):
    return configure(device, list)


def control(device):
    return configure(device, ModuleList)


def popular_fix(device):
    return configure(device, list, lambda model: list(model.parameters()))


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
