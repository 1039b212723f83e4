# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "copy.deepcopy(model) fails if the model has stored an output with a graph"
# kind = "error"
# symptom = "support the deepcopy protocol"
# messages = [
#     "Only Tensors created explicitly by the user \\(graph leaves\\) support the deepcopy protocol",
# ]
# origin = "design"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/54580",
#     "https://github.com/sktime/sktime/issues/10928",
# ]
# documents = ["https://github.com/pytorch/pytorch/blob/v2.13.0/torch/_tensor.py"]
# wrong = '''
# self.features = self.layer(x)
# return self.head(self.features)
# '''
# right = '''
# features = self.layer(x)
# self.features = features.detach()
# return self.head(features)
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""A model can be copied until its first forward pass with gradients. That pass stores a tensor in
an attribute (pytorch#54580), such as attention weights for a plot (sktime/sktime#10928). Under
no_grad(), or in a frozen model, the output has no history, and the copy works.

deepcopy() copies a module's attributes too, and a tensor with a history cannot be copied without
its graph (Tensor.__deepcopy__() in torch/_tensor.py). A detached tensor can be copied. The rest of
forward() must use the tensor with its history. If self.features is detached immediately, the layers
before that point get no gradient (popular fix). If a loss needs the stored tensor, return it from
forward().
"""

import copy

import torch


class Kept(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.head = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)

    def forward(self, x):
        self.features = self.layer(x)
        return self.head(self.features)


class Detached(Kept):
    def forward(self, x):
        features = self.layer(x)
        self.features = features.detach()
        return self.head(features)


class Cut(Kept):
    def forward(self, x):
        self.features = self.layer(x).detach()
        return self.head(self.features)


def clone(device, kind):
    model, x = kind().to(device), torch.ones(1, 2, device=device)
    loss = model(x).sum()
    try:
        y = copy.deepcopy(model)(x)
    except RuntimeError as error:
        return str(error)
    loss.backward()
    if model.layer.weight.grad is None:
        return "the layer before the kept output has no gradient"
    if not y.sum().equal(loss):
        return "the copy returns something else"


def reproduce(device):
    return clone(device, Kept)


def control(device):
    return clone(device, Detached)


def popular_fix(device):
    return clone(device, Cut)


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
