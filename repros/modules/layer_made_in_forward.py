# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A layer that forward() creates has new random weights in every call and never learns"
# kind = "silent"
# symptom = "two outputs for one input differ"
# origin = "usage"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/1291",
#     "https://github.com/graykode/nlp-tutorial/issues/29",
# ]
# documents = ["https://github.com/leaderj1001/Stand-Alone-Self-Attention/issues/2"]
# wrong = '''
# def __init__(self):
#     super().__init__()
#     self.body = torch.nn.Linear(6, 8)
#
# def forward(self, x):
#     return torch.nn.Linear(8, 4)(self.body(x).relu())
# '''
# right = '''
# def __init__(self):
#     super().__init__()
#     self.body = torch.nn.Linear(6, 8)
#     self.head = torch.nn.Linear(8, 4)
#
# def forward(self, x):
#     return self.head(self.body(x).relu())
# '''
# rule = "error"
# affected = { cpu = ">=1.13" }
# ///
"""The loss stays high although the other layers learn, and parameters() does not yield the layer's
weights.

Each call to forward() makes a layer, draws its weights, and discards the layer. The optimizer gets
its parameters before the first call, from attributes that __init__() has set. The same applies to
an nn.Parameter made in forward() (leaderj1001/Stand-Alone-Self-Attention#2), and to self.head =
torch.nn.Linear(8, 4) in forward(). In the latter case, parameters() yields the layer's weights
after the first call, but the next call replaces the layer. Layers without weights may be made in
forward(), but Dropout and BatchNorm are then always in train mode (see
modules/functional_dropout_in_eval_mode). If __init__() cannot know the input size, let it create a
torch.nn.LazyLinear(4), and call the model once before the optimizer is created. If the model is on
another device, calling the new layer raises an error, because the layer is on the CPU. Calling
.to(x.device) on the layer only hides the mistake.
"""

import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.Linear(6, 8)

    def forward(self, x):
        return torch.nn.Linear(8, 4)(self.body(x).relu())


class FixedNet(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.Linear(6, 8)
        self.head = torch.nn.Linear(8, 4)

    def forward(self, x):
        return self.head(self.body(x).relu())


def check(device, model):
    x = torch.ones(1, 6, device=device)
    if not model(x).equal(model(x)):
        return "two outputs for one input differ"
    body, head = model.children()
    if not model(x).equal(head(body(x).relu())) or len(list(model.parameters())) != 4:
        return "the model does not use its two layers"


def reproduce(device):
    return check(device, Net().to(device))


def control(device):
    return check(device, FixedNet().to(device))


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
