# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A model that is built again after its optimizer does not learn"
# kind = "silent"
# symptom = "five steps left the loss at 1\\.0"
# keywords = [
#     "loss stays the same in every epoch",
#     "optimizer.step has no effect",
#     "manual update works and the optimizer does not",
#     "model recreated after optimizer",
#     "loss does not decrease",
#     "parameters do not change after optimizer.step",
#     "gradients are there but weights stay identical",
#     "loss flat whatever learning rate I use",
#     "weights before and after training are the same",
#     "re-ran the model cell and training stopped working",
#     "accuracy stays at chance, loss constant across epochs",
#     "training in a notebook does nothing after rerunning cells",
#     "optimizer created before the model was replaced",
#     "new model instance is not trained by the old optimizer",
#     "second fold or second run does not learn",
#     "loss does not budge, gradients are non-zero",
#     "reset the model between experiments and it no longer learns",
#     "optimizer holds the wrong parameters",
#     "model copied or reloaded after making the optimizer",
# ]
# origin = "usage"
# reports = ["https://github.com/spro/practical-pytorch/issues/9"]
# wrong = '''
# optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
# model = Net().to(device)
# optimizer.step()
# '''
# right = '''
# model = Net().to(device)
# optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
# optimizer.step()
# '''
# fix = "optimizers.check_parameters"
# rule = "error"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The loss does not fall, whatever the learning rate: the optimizer holds the parameters of
the first model, which have no gradients, and step() leaves those alone
(torch/optim/sgd.py).

It happens where a second cell of a notebook builds the model again
(spro/practical-pytorch#9).
"""

import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(1))

    def forward(self):
        return self.weight.square().sum()


def train(device, again):
    model = Net().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    if again:
        model = Net().to(device)
    for _ in range(5):
        optimizer.zero_grad()
        model().backward()
        optimizer.step()
    if model().item() == 1.0:
        return "five steps left the loss at 1.0"


def reproduce(device):
    return train(device, again=True)


def control(device):
    return train(device, again=False)


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
