# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Freezing parameters by a prefix of their names freezes nothing once the model is wrapped"
# kind = "silent"
# symptom = "the backbone moved despite the freeze"
# origin = "usage"
# reports = ["https://github.com/huggingface/lerobot/issues/4018"]
# documents = [
#     "https://github.com/espnet/espnet/pull/1983",
#     "https://github.com/ecmwf/anemoi-core/pull/1159",
# ]
# wrong = '''
# model = torch.nn.DataParallel(model)
# for name, p in model.named_parameters():
#     if name.startswith("backbone."):
#         p.requires_grad = False
# '''
# right = '''
# for p in model.backbone.parameters():  # a wrong name raises AttributeError
#     p.requires_grad = False
# model = torch.nn.DataParallel(model)
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13" }
# ///
"""The loop runs without an error, and the backbone continues to learn.

DataParallel and DistributedDataParallel put "module." before each name (espnet/espnet#1983), and
torch.compile() puts "_orig_mod." there. A pattern that matches no name fails in the same way, even
without a wrapper (huggingface/lerobot#4018, ecmwf/anemoi-core#1159). Freeze modules instead of
names, before the model is wrapped and before the optimizer is built. To check, list the frozen
names: [n for n, p in model.named_parameters() if not p.requires_grad]. The statistics of BatchNorm
still move: see modules/frozen_batchnorm_moves.
"""

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone, self.head = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)

    def forward(self, x):
        return self.head(self.backbone(x))


def by_name(model):
    model = torch.nn.DataParallel(model)
    for name, p in model.named_parameters():
        if name.startswith("backbone."):
            p.requires_grad = False
    return model


def by_module(model):
    for p in model.backbone.parameters():  # a wrong name raises AttributeError
        p.requires_grad = False
    model = torch.nn.DataParallel(model)
    return model


def check(device, freeze):
    inner = Model().to(device)
    model = freeze(inner)
    before = [p.detach().clone() for p in inner.parameters()]
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model(torch.ones(4, 2, device=device)).sum().backward()
    optimizer.step()
    moved = [not p.equal(old) for p, old in zip(inner.parameters(), before)]
    if moved[0] or moved[1]:
        return "the backbone moved despite the freeze"
    if moved != [False, False, True, True]:
        return f"moved: {moved}"


def reproduce(device):
    return check(device, by_name)


def control(device):
    return check(device, by_module)


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
