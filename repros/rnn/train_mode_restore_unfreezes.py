# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "model.train() after an evaluation unfreezes a BatchNorm that was deliberately in eval mode"
# kind = "silent"
# symptom = "frozen BatchNorm is training again"
# origin = "usage"
# reports = [
#     "https://github.com/Lightning-AI/pytorch-lightning/issues/18930",
#     "https://github.com/pgniewko/gt-pyg/issues/112",
# ]
# documents = ["https://github.com/pytorch/pytorch/blob/v2.13.0/torch/nn/modules/module.py"]
# wrong = '''
# model.backbone.eval()  # frozen
# model.eval()
# validate(model)
# model.train()
# '''
# right = '''
# model.backbone.eval()  # frozen
# model.eval()
# validate(model)
# model.train()
# model.backbone.eval()  # after every train()
# '''
# fix = "rnn.restore_modes"
# use = '''
# from rnn import restore_modes
# model.backbone.eval()  # frozen
# with restore_modes(model):
#     model.eval()
#     validate(model)
# '''
# choice = "Use the lines without the fix in a loop that knows the frozen parts; use the fix in a function that accepts any model"
# rule = "warning"
# when = "the frozen part has batch normalization or dropout"
# affected = { cpu = ">=1.13" }
# ///
"""A BatchNorm that was frozen with eval() trains again after the next call to model.train(). This
call may follow a validation (Lightning-AI/pytorch-lightning#18930) or start each epoch
(pgniewko/gt-pyg#112).

Both train() and eval() set the flag of every submodule (torch/nn/modules/module.py), so these calls
cannot restore a model whose submodules are in different modes. Setting the flags by hand restores
the modes, but bypasses train() methods that do more than set the mode. For example, a LoRA layer
merges its weights in eval().

Calling eval() stops only the running statistics and dropout. The weight and bias of the BatchNorm
keep training unless requires_grad_(False) was called.
"""

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = torch.nn.BatchNorm1d(2)
        self.head = torch.nn.Linear(2, 1)

    def forward(self, x):
        return self.head(self.backbone(x))


def validate(model):
    model(torch.ones(2, 2, device=model.head.weight.device))


def unfrozen(model):
    model.backbone.eval()  # frozen
    model.eval()
    validate(model)
    model.train()


def frozen_again(model):
    model.backbone.eval()  # frozen
    model.eval()
    validate(model)
    model.train()
    model.backbone.eval()  # after every train()


def check(device, epoch):
    model = Model().to(device)
    epoch(model)
    model(torch.ones(2, 2, device=device))  # a training step
    if model.backbone.running_mean.any():
        return "the frozen BatchNorm is training again: its running mean has moved"
    if not model.training or not model.head.training:
        return "the model was left in eval mode"


def reproduce(device):
    return check(device, unfrozen)


def control(device):
    return check(device, frozen_again)


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
