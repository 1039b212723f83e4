# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Without model.eval(), a model with dropout gives a different prediction on each call"
# kind = "silent"
# symptom = "two predictions for one input differ"
# origin = "usage"
# reports = [
#     "https://github.com/haofanwang/video-swin-transformer-pytorch/issues/9",
#     "https://github.com/gzerveas/mvts_transformer/issues/18",
#     "https://github.com/ipolharvard/ethos-ares/issues/20",
# ]
# documents = [
#     "https://docs.pytorch.org/docs/stable/notes/autograd.html",
#     "https://github.com/pytorch/vision/issues/370",
# ]
# wrong = '''
# first, second = model(x), model(x)
# '''
# right = '''
# model.eval()  # and model.train() before training goes on
# first, second = model(x), model(x)
# '''
# rule = "error"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The weights are fixed, but the predictions vary.

A new module is in train mode, in which dropout drops values at random and BatchNorm uses the
batch's statistics (as in pytorch/vision#370). Contexts such as no_grad() and inference_mode()
affect only autograd (docs: notes/autograd). The project in ipolharvard/ethos-ares#20 wrongly relied
on them. Most other layers ignore the mode, but RReLU, spectral_norm() and InstanceNorm with running
statistics do not. Calling train() also puts a BatchNorm that eval() had frozen back into train
mode, so freeze that layer again. Calling eval() has no effect on layers in a Python list. It has no
effect on the dropout of a model that was traced in train mode either: trace the model in eval mode.
"""

import torch


def start(device):
    return torch.nn.Dropout().to(device), torch.ones(256, device=device)


def check(first, second, x):
    if not torch.equal(first, second):
        return "two predictions for one input differ"
    if not torch.equal(first, x):
        return "the prediction is not the input"


def reproduce(device):
    model, x = start(device)
    first, second = model(x), model(x)
    return check(first, second, x)


def control(device):
    model, x = start(device)
    model.eval()  # and model.train() before training goes on
    first, second = model(x), model(x)
    return check(first, second, x)


def popular_fix(device):
    model, x = start(device)
    with torch.no_grad():
        first, second = model(x), model(x)
    return check(first, second, x)


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
