# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A train() method that does not call super().train() leaves dropout on after eval()"
# kind = "silent"
# symptom = "dropout is on after eval()"
# origin = "usage"
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html",
# ]
# wrong = '''
# def train(self, mode=True):
#     self.training = mode
#     self.norm.eval()  # stays frozen
#     return self
# '''
# right = '''
# def train(self, mode=True):
#     super().train(mode)
#     self.norm.eval()  # stays frozen
#     return self
# '''
# rule = "error"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""model.training is False after eval(), but the layers stay in train mode.

eval() calls self.train(False), and Module.train() sets the mode of the module and of all modules in
it (torch/nn/modules/module.py). An override that sets only its own module's mode leaves the others
unchanged. Calling norm.eval() freezes only the statistics. To freeze the norm's weight and bias
too, call requires_grad_(False). The override must also return self: otherwise, after model =
model.eval(), model is None.
"""

import torch


class Layers(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.dropout = torch.nn.BatchNorm1d(8), torch.nn.Dropout(0.5)

    def forward(self, x):
        return self.dropout(self.norm(x))


class Net(Layers):
    def train(self, mode=True):
        self.training = mode
        self.norm.eval()  # stays frozen
        return self


class FixedNet(Layers):
    def train(self, mode=True):
        super().train(mode)
        self.norm.eval()  # stays frozen
        return self


def check(device, model):
    x = torch.ones(2, 8, device=device)
    if model.to(device).eval().training or model.norm.training:
        return "the model is in train mode"
    with torch.random.fork_rng():
        torch.manual_seed(0)
        if (model(x) == 0).any():
            return "dropout is on after eval()"
    if not model.train().dropout.training or model.norm.training:
        return "the modes of train() are wrong"


def reproduce(device):
    return check(device, Net())


def control(device):
    return check(device, FixedNet())


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
