# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Asking for saliency in train mode changes later predictions"
# kind = "silent"
# symptom = "running_mean moved by"
# origin = "usage"
# reports = ["https://github.com/pytorch/pytorch/issues/5878", "https://github.com/jurgisp/pydreamer/issues/7"]
# wrong = '''
# TODO
# '''
# fix = "rnn.input_gradients"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""A forward in train mode updates BatchNorm's running statistics, which no restored
`training` flag takes back.

torch.no_grad() does not help either: buffers are written by the forward, not by
autograd (torch/nn/modules/batchnorm.py).
"""

import torch


def feature_importance(device, train, context=torch.enable_grad):
    model = torch.nn.BatchNorm1d(3).to(device).eval()
    before = model.running_mean.clone()
    was_training = model.training
    model.train(train)
    try:
        with context():
            model(torch.full((8, 3), 5.0, device=device))
    finally:
        model.train(was_training)
    moved = (model.running_mean - before).abs().max()
    if moved > 0:
        return f"running_mean moved by {moved:.2g} per call"


def reproduce(device):
    return feature_importance(device, train=True)


def control(device):
    return feature_importance(device, train=False)


def popular_fix(device):
    return feature_importance(device, train=True, context=torch.no_grad)


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
