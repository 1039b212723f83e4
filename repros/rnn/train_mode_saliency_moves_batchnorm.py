# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A forward pass in train mode changes later predictions of a model with BatchNorm"
# kind = "silent"
# symptom = "a prediction moved by"
# origin = "design"
# reports = ["https://github.com/pytorch/vision/issues/2079"]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.BatchNorm1d.html",
#     "https://github.com/callummcdougall/ARENA_3.0/pull/169",
#     "https://github.com/facebookresearch/unbiased-teacher/issues/47",
# ]
# wrong = '''
# model.train()
# gradient, = torch.autograd.grad(model(x).sum(), x)
# model.eval()
# '''
# right = '''
# model.eval()
# gradient, = torch.autograd.grad(model(x).sum(), x)
# '''
# fix = "rnn.input_gradients"
# use = '''
# from rnn import input_gradients
# gradient, = input_gradients(model, x)
# '''
# choice = "Use the lines without the fix for a model that stays in eval mode; use the fix during training, and for RNNs on CUDA"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""Two predictions for the same input differ because a forward pass in train mode ran in between,
although no optimizer took a step.

A forward pass in train mode updates the running statistics of BatchNorm (docs:
torch.nn.BatchNorm1d), unless the layer has track_running_stats=False or momentum=0. It also updates
the statistics of an InstanceNorm with track_running_stats=True. Users expect no_grad() to prevent
this (facebookresearch/unbiased-teacher#47), but the statistics are written in the forward pass
(torch/nn/modules/batchnorm.py).
"""

import torch


def in_train_mode(model, x):
    model.train()
    (gradient,) = torch.autograd.grad(model(x).sum(), x)
    model.eval()
    return gradient


def in_eval_mode(model, x):
    model.eval()
    (gradient,) = torch.autograd.grad(model(x).sum(), x)
    return gradient


def without_gradients(model, x):
    model.train()
    with torch.no_grad():
        model(x)
    model.eval()


def check(device, explain):
    model = torch.nn.BatchNorm1d(3).to(device).eval()
    x = torch.full((8, 3), 5.0, device=device, requires_grad=True)
    before = model(x)
    gradient = explain(model, x)
    moved = (model(x) - before).abs().max()
    if moved > 0:
        return f"a prediction moved by {moved.item():.2g}"
    if not torch.allclose(gradient, torch.ones_like(x), atol=1e-4):  # of fresh statistics
        return f"the gradient is {gradient[0].tolist()}"


def reproduce(device):
    return check(device, in_train_mode)


def control(device):
    return check(device, in_eval_mode)


def popular_fix(device):
    return check(device, without_gradients)


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
