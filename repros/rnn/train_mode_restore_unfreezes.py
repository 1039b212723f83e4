# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Restoring one `training` flag unfreezes the submodules that were frozen on purpose"
# kind = "silent"
# symptom = "frozen BatchNorm is training again"
# keywords = ["frozen layers change", "fine-tuning worse after evaluation"]
# origin = "usage"
# documents = ["https://pytorch.org/docs/stable/generated/torch.nn.Module.html"]
# wrong = '''
# TODO
# '''
# fix = "rnn.restore_modes"
# affected = { cpu = ">=1.13" }
# ///
"""train(mode) and eval() write the flag of every submodule, so one saved flag cannot
restore a model with mixed modes.

Fine-tuning with frozen BatchNorm, or Monte Carlo dropout in an eval model, is lost
after one call.
"""

import torch


def after_saliency(restore):
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2)).train()
    model[1].eval()  # frozen
    saved = {module: module.training for module in model.modules()}
    model.eval()  # the saliency is computed here
    restore(model, saved)
    if model[1].training:
        return "the frozen BatchNorm is training again"


def one_flag(model, saved):
    model.train(saved[model])


def every_flag(model, saved):
    for module, training in saved.items():
        module.training = training


def reproduce(device):
    return after_saliency(one_flag)


def control(device):
    return after_saliency(every_flag)


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
