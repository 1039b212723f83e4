# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "view(-1, channels) turns each larger image into several rows of the batch"
# kind = "error"
# symptom = "Expected input batch_size \\(8\\) to match target batch_size \\(2\\)"
# messages = ["Expected input batch_size \\(\\d{1,9}\\) to match target batch_size \\(\\d{1,9}\\)"]
# origin = "usage"
# reports = [
#     "https://github.com/prlz77/ResNeXt.pytorch/issues/12",
#     "https://github.com/uoguelph-mlrg/Cutout/issues/16",
#     "https://github.com/qijiezhao/pseudo-3d-pytorch/issues/28",
#     "https://github.com/xternalz/WideResNet-pytorch/issues/1",
# ]
# documents = ["https://docs.pytorch.org/docs/stable/generated/torch.nn.AdaptiveAvgPool2d.html"]
# wrong = '''
# x = torch.nn.functional.avg_pool2d(x, 8)  # for features of 8 x 8
# x = x.view(-1, channels)
# '''
# right = '''
# x = torch.nn.functional.adaptive_avg_pool2d(x, 1)
# x = x.flatten(1)
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The loss raises an error. The first number in its message is a multiple of the second, which is
the batch size.

The model was built for images of one size. For larger images, more than one position is left after
the pooling. A view() with -1 as the batch size then cuts each image into several rows of the batch
(xternalz/WideResNet-pytorch#1). Each of these rows mixes channels and positions. cross_entropy
needs as many rows as labels (aten/src/ATen/native/LossNLL.cpp).

The call adaptive_avg_pool2d(x, 1) averages over an image of any size. For images of the old size,
it returns the same result as before, so trained weights still fit. If there is no such pooling,
flatten(1) keeps one row per image, and the error of the next Linear names the width that it gets:
see modules/linear_after_another_image_size.
"""

import torch
from torch.nn.functional import cross_entropy


def by_view(x, channels):
    x = torch.nn.functional.avg_pool2d(x, 8)  # for features of 8 x 8
    x = x.view(-1, channels)
    return x


def per_image(x, channels):
    x = torch.nn.functional.adaptive_avg_pool2d(x, 1)
    x = x.flatten(1)
    return x


def check(device, pool):
    head, labels = torch.nn.Linear(3, 4).to(device), torch.tensor([1, 3], device=device)
    for side in (8, 16):
        x = torch.arange(2.0 * 3 * side * side, device=device).view(2, 3, side, side) / side**2
        logits = head(pool(x, 3))
        try:
            cross_entropy(logits, labels)
        except ValueError as error:
            return str(error)
        if not torch.allclose(logits, head(x.mean((2, 3))), atol=1e-4):
            return "the rows are not the means of the images"


def reproduce(device):
    return check(device, by_view)


def control(device):
    return check(device, per_image)


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
