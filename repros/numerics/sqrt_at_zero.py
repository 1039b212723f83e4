# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "The gradient of a Euclidean distance written with sqrt() is NaN if the distance is zero"
# kind = "silent"
# symptom = "distance 0 is finite, gradient nan"
# messages = ["Backward\\w{0,3}.{1,2} returned nan values in its \\d{1,2}\\w\\w output"]
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
# distance = (a - b).square().sum(-1).sqrt()
# '''
# right = '''
# squared = (a - b).square().sum(-1)
# zero = squared == 0
# distance = squared.masked_fill(zero, 1).sqrt().masked_fill(zero, 0)
# '''
# fix = "numerics.apply_where"
# use = '''
# from numerics import apply_where
# squared = (a - b).square().sum(-1)
# distance = apply_where(squared != 0, torch.sqrt, squared)
# '''
# choice = "Normally, use the lines without the fix; use the fix if you have to mask more than a square root"
# rule = "note"
# when = "a sum of squares is exactly 0"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""A distance of 0 has a NaN gradient: the derivative of sqrt at 0 is inf, the derivative of the
square is 0, and their product is NaN (pytorch#2421). The square root of a mean, as in RMSE, fails
in the same way.

At 0, vector_norm() defines the gradient as 0, as norm() has done since 2017, while
pow(2).sum().sqrt() gives NaN (pytorch#2775). However, the second derivative of vector_norm() at 0
is NaN, which breaks a gradient penalty. With the corrected code, both derivatives are finite. This
code treats a square that underflows as 0, for example the square of 1e-23 in float32 or of 1e-4 in
float16. A NaN distance stays NaN. The mask squared > 0 would turn a NaN distance into 0, so the
loss would be finite although the gradient is NaN.

Clipping is sometimes recommended against these NaNs (TFboys-lzz/MPSCL#2), but does not remove them.
"""

import torch


def naive(a, b):
    distance = (a - b).square().sum(-1).sqrt()
    return distance


def masked(a, b):
    squared = (a - b).square().sum(-1)
    zero = squared == 0
    distance = squared.masked_fill(zero, 1).sqrt().masked_fill(zero, 0)
    return distance


def check(device, distance_of, clip=False):
    a = torch.tensor([[3.0, 4.0], [0.0, 0.0]], device=device, requires_grad=True)
    distance = distance_of(a, torch.zeros_like(a))
    (gradient,) = torch.autograd.grad(distance.sum(), a, create_graph=True)
    a.grad = gradient.detach().clone()
    if clip:
        torch.nn.utils.clip_grad_norm_([a], 1.0)
    if a.grad[1].isnan().all():
        return f"distance {distance[1].item():g} is finite, gradient nan"
    expected = torch.tensor([[0.6, 0.8], [0.0, 0.0]], device=device)
    if not torch.allclose(a.grad, expected):
        return f"gradient {a.grad.tolist()} instead of {expected.tolist()}"
    (second,) = torch.autograd.grad(gradient[:, 0].sum(), a)
    expected = torch.tensor([[0.128, -0.096], [0.0, 0.0]], device=device)  # (1 - 0.36) / 5
    if not torch.allclose(second, expected):
        return f"second derivative {second.tolist()} instead of {expected.tolist()}"


def reproduce(device):
    return check(device, naive)


def control(device):
    return check(device, masked)


def messages(device):
    a = torch.zeros(1, 2, device=device, requires_grad=True)
    try:
        with torch.autograd.detect_anomaly():
            naive(a, torch.zeros_like(a)).sum().backward()
    except RuntimeError as error:
        return str(error)


def popular_fix(device):
    return check(device, naive, clip=True)


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control, messages, popular_fix):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
