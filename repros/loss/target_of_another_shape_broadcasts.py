# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "With [N, 1] predictions and [N] targets, mse_loss compares every pair, and the model learns the mean"
# kind = "silent"
# symptom = "every prediction is the mean of the targets"
# messages = ["Using a target size \\(.{4,80}?\\) that is different to the input size"]
# origin = "usage"
# reports = [
#     "https://github.com/deepset-ai/FARM/issues/229",
#     "https://github.com/Photon-AI-Research/NeuralSolvers/issues/20",
#     "https://github.com/timeseriesAI/tsai/issues/22",
# ]
# documents = [
#     "https://github.com/pytorch/pytorch/pull/18349",
#     "https://github.com/pytorch/pytorch/pull/18565",
# ]
# wrong = '''
# loss = mse_loss(prediction, target)  # [4, 1] and [4]
# '''
# right = '''
# loss = mse_loss(prediction, target.view_as(prediction))
# '''
# fix = "loss.SameShapeLoss"
# use = '''
# from loss import SameShapeLoss
# loss = SameShapeLoss(mse_loss)(prediction, target.unsqueeze(-1))
# '''
# choice = "Normally, use the line without the fix; wrap every regression loss in the fix if the next mismatch should raise an error"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The shapes [4, 1] and [4] broadcast to [4, 4]. The loss compares each prediction with all four
targets, so every prediction moves toward the mean of the targets. In this case, mse_loss only warns
(pytorch#18349), and so do l1_loss and smooth_l1_loss (pytorch#18565). In binary_cross_entropy, the
warning's text is an error, and the corrected line helps there too. A hand-written loss does not
even warn.

The mismatch is caused by a squeeze() of only one of the two tensors (deepset-ai/FARM#229), or by a
Linear output without a squeeze() (Photon-AI-Research/NeuralSolvers#20, timeseriesAI/tsai#22). If
the numbers of elements differ, view_as() raises an error. It silently accepts the shapes [3, 4] and
[4, 3], for which a transpose is needed instead.
"""

import warnings

import torch
from torch.nn.functional import l1_loss, mse_loss, smooth_l1_loss


def as_they_are(prediction, target):
    loss = mse_loss(prediction, target)
    return loss


def of_one_shape(prediction, target):
    loss = mse_loss(prediction, target.view_as(prediction))
    return loss


def train(device, loss_of):
    prediction = torch.zeros(4, 1, device=device, requires_grad=True)
    target = torch.tensor([1.0, 2.0, 3.0, 4.0], device=device)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(100):
            prediction.data -= torch.autograd.grad(loss_of(prediction, target), prediction)[0]
    if torch.allclose(prediction, target.mean()):
        return f"every prediction is the mean of the targets: {prediction.flatten().tolist()}"
    if not torch.allclose(prediction[:, 0], target, atol=0.01):
        return f"the predictions are {prediction.flatten().tolist()}"


def reproduce(device):
    return train(device, as_they_are)


def control(device):
    return train(device, of_one_shape)


def messages(device):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for loss_of in (mse_loss, l1_loss, smooth_l1_loss):
            loss_of(torch.zeros(4, 1, device=device), torch.zeros(4, device=device))
    return "\n".join(str(one.message) for one in caught)


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control, messages):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
