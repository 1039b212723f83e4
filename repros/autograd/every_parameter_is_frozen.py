# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Freezing model.parameters() also freezes the head that should train, and backward() fails"
# kind = "error"
# symptom = "element 0 of tensors does not require grad"
# messages = ["element \\d{1,9} of tensors does not require grad and does not have a grad_fn"]
# origin = "usage"
# reports = ["https://github.com/cfzd/Ultra-Fast-Lane-Detection/issues/281"]
# documents = [
#     "https://docs.pytorch.org/docs/stable/notes/autograd.html#setting-requires-grad",
#     "https://github.com/mazurowski-lab/finetune-SAM/issues/26",
# ]
# wrong = '''
# for p in model.parameters():
#     p.requires_grad = False
# '''
# right = '''
# for p in model.parameters():
#     p.requires_grad = False
# for p in model.head.parameters():
#     p.requires_grad = True
# '''
# rule = "error"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""backward() reports that the loss does not require grad, because the output of an operation
requires grad only if one of its inputs does (docs: notes/autograd). The loop that should freeze
only the backbone covers the whole model (cfzd/Ultra-Fast-Lane-Detection#281).

Setting loss.requires_grad = True, which mazurowski-lab/finetune-SAM#26 reports as a solution,
silences the error but trains nothing (popular fix). In training mode, a BatchNorm in the frozen
part keeps updating its averages (see modules/frozen_batchnorm_moves). Parameters that are frozen
after the first steps can keep moving (see optimizers/frozen_parameter_moves_on).

A model with a trainable head causes the same error in checkpoint(model, x) if the checkpoint is
reentrant, which is the default. Because x requires no gradient, the output does not require a
gradient either. Pass use_reentrant=False.
"""

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone, self.head = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)

    def forward(self, x):
        return self.head(self.backbone(x))


def all_frozen(model):
    for p in model.parameters():
        p.requires_grad = False


def head_trains(model):
    for p in model.parameters():
        p.requires_grad = False
    for p in model.head.parameters():
        p.requires_grad = True


def train(device, freeze, mark_loss=False):
    model = Model().to(device)
    freeze(model)
    loss = model(torch.ones(1, 2, device=device)).sum()
    if mark_loss:
        loss.requires_grad = True
    try:
        loss.backward()
    except RuntimeError as error:
        return str(error)
    if model.head.weight.grad is None:
        return "backward() is quiet, and no parameter has a gradient"
    if model.backbone.weight.grad is not None:
        return "the backbone has a gradient"


def reproduce(device):
    return train(device, all_frozen)


def control(device):
    return train(device, head_trains)


def popular_fix(device):
    return train(device, all_frozen, mark_loss=True)


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
