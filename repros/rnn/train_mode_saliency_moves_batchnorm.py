# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A forward in train mode changes later predictions of a model with BatchNorm"
# kind = "silent"
# symptom = "a prediction moved by"
# keywords = [
#     "predictions change without an optimizer step",
#     "saliency in train mode changes the model",
#     "computing a saliency map changes the later predictions",
#     "prediction changes although nothing was trained",
#     "running the model under no_grad modifies its results",
#     "just passing data through the network changes it",
#     "accuracy differs after I computed the explanations",
#     "model drifts without calling the optimizer",
#     "state_dict differs before and after a forward pass",
#     "forward over test data in training mode leaks into model",
#     "output of the same input changes after a warm-up pass",
#     "batch norm buffers updated inside torch.no_grad",
#     "explaining predictions degraded my model",
# ]
# origin = "design"
# reports = ["https://github.com/pytorch/vision/issues/2079"]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.BatchNorm1d.html",
#     "https://github.com/callummcdougall/ARENA_3.0/pull/169",
#     "https://github.com/facebookresearch/unbiased-teacher/issues/47",
# ]
# wrong = '''
# model.train()
# model(x)
# model.eval()
# '''
# right = '''
# model.eval()
# model(x)
# '''
# fix = "rnn.input_gradients"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""Two predictions of one input differ because a forward in train mode ran in between; no
optimizer stepped.

Such a forward updates BatchNorm's running statistics (docs: torch.nn.BatchNorm1d).
no_grad() is taken for a protection (facebookresearch/unbiased-teacher#47), but it is
the forward that writes them (torch/nn/modules/batchnorm.py).
"""

import torch


def prediction_moves(device, mode, context=torch.enable_grad):
    model, x = torch.nn.BatchNorm1d(3).to(device).eval(), torch.full((8, 3), 5.0, device=device)
    before = model(x)
    mode(model)
    with context():
        model(x)  # a saliency, or anything else that runs the model
    model.eval()
    moved = (model(x) - before).abs().max()
    if moved > 0:
        return f"a prediction moved by {moved:.2g}"


def reproduce(device):
    return prediction_moves(device, torch.nn.Module.train)


def control(device):
    return prediction_moves(device, torch.nn.Module.eval)


def popular_fix(device):
    return prediction_moves(device, torch.nn.Module.train, torch.no_grad)


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
