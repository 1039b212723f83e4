# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A part that is frozen in the module's train() method learns until someone calls train()"
# kind = "silent"
# symptom = "the frozen stem moved"
# origin = "usage"
# documents = [
#     "https://github.com/open-mmlab/mmpretrain/issues/702",
#     "https://github.com/open-mmlab/mmdetection/pull/11182",
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/nn/modules/module.py",
# ]
# wrong = '''
# class Backbone(torch.nn.Module):
#     def __init__(self):
#         super().__init__()
#         self.stem, self.body = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)
#
#     def train(self, mode=True):
#         super().train(mode)
#         self.stem.requires_grad_(False).eval()
#         return self
# '''
# right = '''
# class Backbone(torch.nn.Module):
#     def __init__(self):
#         super().__init__()
#         self.stem, self.body = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)
#         self.stem.requires_grad_(False).eval()
#
#     def train(self, mode=True):
#         super().train(mode)
#         self.stem.requires_grad_(False).eval()
#         return self
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The stem, which should be frozen, learns in the first epoch, or in all epochs.

A new module is already in training mode (torch/nn/modules/module.py), so a loop may call train()
only after its first validation, or never. A DistributedDataParallel that was built before the first
call to train() expects gradients for the stem (see distributed/frozen_after_wrapping). Freeze in
the constructor too. The override of train() is still needed: Module.train() sets the mode of every
child, and only eval() stops dropout and the statistics of BatchNorm. If the stem is unfrozen later,
the next call to train() or eval() freezes it again.
"""

import torch


def late():
    class Backbone(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.stem, self.body = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)

        def train(self, mode=True):
            super().train(mode)
            self.stem.requires_grad_(False).eval()
            return self

    return Backbone


def at_once():
    class Backbone(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.stem, self.body = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)
            self.stem.requires_grad_(False).eval()

        def train(self, mode=True):
            super().train(mode)
            self.stem.requires_grad_(False).eval()
            return self

    return Backbone


def check(device, define):
    backbone = define()().to(device)
    before = [p.detach().clone() for p in backbone.parameters()]
    optimizer = torch.optim.SGD(backbone.parameters(), lr=0.1)
    backbone.body(backbone.stem(torch.ones(4, 2, device=device))).sum().backward()
    optimizer.step()
    moved = [not p.equal(old) for p, old in zip(backbone.parameters(), before)]
    if moved[0] or moved[1]:
        return "the frozen stem moved"
    if moved != [False, False, True, True]:
        return f"moved: {moved}"
    backbone.train()
    if backbone.stem.training or not backbone.body.training:
        return "the modes are wrong after train()"


def reproduce(device):
    return check(device, late)


def control(device):
    return check(device, at_once)


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
