# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "model.train() after an evaluation unfreezes a BatchNorm that was in eval mode on purpose"
# kind = "silent"
# symptom = "frozen BatchNorm is training again"
# keywords = [
#     "frozen layers change",
#     "fine-tuning worse after evaluation",
#     "restore training mode",
#     "frozen batch norm starts updating from the second epoch",
#     "fine-tuning is fine in epoch one and degrades later",
#     "froze the encoder with eval but it becomes active again",
#     "calling train() after validation undoes my freezing",
#     "batch norm of the backbone changes after each evaluation",
#     "detection fine-tuning accuracy falls after the first validation",
#     "how to keep part of the model in eval",
#     "frozen layers switch back to training mode",
#     "dropout in the frozen part comes back after validation",
#     "pretrained features get worse after every epoch",
#     "running statistics move although set to eval before the loop",
# ]
# origin = "usage"
# reports = [
#     "https://github.com/Lightning-AI/pytorch-lightning/issues/18930",
#     "https://github.com/pgniewko/gt-pyg/issues/112",
# ]
# documents = ["https://github.com/pytorch/pytorch/blob/v2.13.0/torch/nn/modules/module.py"]
# wrong = '''
# model[0].eval()  # frozen
# model.eval()
# model.train()
# '''
# right = '''
# modes = [(module, module.training) for module in model.modules()]
# model.eval()
# for module, training in modes: module.training = training
# '''
# fix = "rnn.restore_modes"
# rule = "warning"
# when = "that part has batch normalization or dropout"
# affected = { cpu = ">=1.13" }
# ///
"""A BatchNorm that was frozen with eval() trains again after the model's next train().

train() and eval() set the flag of every submodule (torch/nn/modules/module.py), so they
cannot restore a model whose submodules are in different modes.
"""

import torch


def after_evaluation(restore):
    model = torch.nn.Sequential(torch.nn.BatchNorm1d(2))
    model[0].eval()  # frozen
    modes = [(module, module.training) for module in model.modules()]
    model.eval()
    restore(model, modes)
    if model[0].training:
        return "the frozen BatchNorm is training again"
    if not model.training:
        return "the model was left in eval mode"


def every_flag(model, modes):
    for module, training in modes:
        module.training = training


def reproduce(device):
    return after_evaluation(lambda model, modes: model.train())


def control(device):
    return after_evaluation(every_flag)


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
