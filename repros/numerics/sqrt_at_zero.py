# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "The gradient of a Euclidean distance written with sqrt() is NaN where the distance is zero"
# kind = "silent"
# symptom = "loss 0 is finite, gradient nan"
# messages = ["Backward\\w{0,3}.{1,2} returned nan values in its \\d{1,2}\\w\\w output"]
# keywords = [
#     "rmse loss nan",
#     "siamese or triplet loss nan",
#     "identical embeddings",
#     "NormBackward1 nan",
#     "torch.norm gradient nan",
#     "std of a constant gradient nan",
#     "nan after a few iterations",
#     "pairwise distance gradient nan",
#     "gradient nan while the loss is zero",
#     "distance of a point to itself gives nan gradient",
#     "triplet loss turns nan after some steps",
#     "RMSE loss becomes nan once the fit is perfect",
#     "nan gradient from euclidean distance",
#     "contrastive loss with identical images becomes nan",
#     "loss is fine, weights nan after backward",
#     "pairwise distance matrix has nan gradients on the diagonal",
#     "torch.sqrt gives nan in backward",
#     "norm of a zero vector breaks the backward",
#     "physics simulation of particles gives nan gradients",
#     "point cloud or molecule distances nan gradient",
#     "training goes nan when two embeddings coincide",
#     "standard deviation loss gives nan gradient for equal values",
# ]
# origin = "design"
# reports = [
#     "https://github.com/adambielski/siamese-triplet/issues/18",
#     "https://github.com/mpariente/pytorch_stoi/issues/7",
# ]
# documents = [
#     "https://github.com/pytorch/pytorch/pull/2775",
#     "https://github.com/pytorch/pytorch/issues/2421",
#     "https://github.com/TFboys-lzz/MPSCL/issues/2",
#     "https://github.com/huggingface/sentence-transformers/pull/4033",
# ]
# wrong = '''
# loss = x.square().sum().sqrt()
# '''
# right = '''
# loss = torch.linalg.vector_norm(x)
# '''
# fix = "numerics.apply_where"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The loss is 0 and its gradient is NaN: the derivative of sqrt at 0 is inf, that of the
square is 0, and their product is NaN (pytorch#2421).

vector_norm() (control) defines the gradient at 0 as 0, as norm() does since the report
of 2017, while pow(2).sum().sqrt() gives NaN (pytorch#2775). Clipping is advised against
such NaNs (TFboys-lzz/MPSCL#2) and keeps them.
"""

import torch


def gradient(device, distance, clip=False):
    x = torch.zeros(3, device=device, requires_grad=True)
    loss = distance(x)
    loss.backward()
    if clip:
        torch.nn.utils.clip_grad_norm_([x], 1.0)
    if loss.isfinite() and x.grad.isnan().all():
        return f"loss {loss.item():g} is finite, gradient nan"


def naive(x):
    return x.square().sum().sqrt()


def reproduce(device):
    return gradient(device, naive)


def control(device):
    return gradient(device, torch.linalg.vector_norm)


def popular_fix(device):
    return gradient(device, naive, clip=True)


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
