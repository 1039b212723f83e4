# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A Linear after flattened features fails on images of a different size"
# kind = "error"
# symptom = "shapes cannot be multiplied"
# messages = [
#     "mat1 and mat2 shapes cannot be multiplied",
#     "a and b must have same reduction dim, but got",
# ]
# elsewhere = [
#     'size mismatch, m1: \[\S{1,12} x \S{1,12}\], m2: \[',
#     "mat1 dim 1 must match mat2 dim 0",
#     'input and weight\.T shapes cannot be multiplied',
# ]
# origin = "usage"
# reports = [
#     "https://github.com/adambielski/siamese-triplet/issues/29",
#     "https://github.com/deepinsight/insightface/issues/1638",
#     "https://github.com/IrvingMeng/MagFace/issues/53",
# ]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.AdaptiveAvgPool2d.html",
#     "https://github.com/qijiezhao/pseudo-3d-pytorch/issues/28",
#     "https://github.com/pytorch/pytorch/issues/143864",
# ]
# wrong = '''
# features = convolution(images)
# output = head(features.flatten(1))
# '''
# right = '''
# features = torch.nn.AdaptiveAvgPool2d(4)(convolution(images))
# output = head(features.flatten(1))
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The first Linear after the convolutions raises an error, although training on images of the old
size worked.

The in_features of this layer is the number of channels times the height and the width of the
features. Height and width grow with the image (in steps, after a stride or pooling). Pooling with
AdaptiveAvgPool2d() to the original height and width, here 4 x 4, leaves features of that size
unchanged (docs: torch.nn.AdaptiveAvgPool2d). A view() with -1 as the batch size raises no error if
the sizes divide evenly, but turns one sample into several rows (qijiezhao/pseudo-3d-pytorch#28). On
MPS the pooling may raise an error if one size does not divide the other (pytorch#143864). On CUDA
its backward pass raises an error under use_deterministic_algorithms(True) (docs:
torch.use_deterministic_algorithms).
"""

import torch
from torch.nn import Conv2d, Linear


def start(device, size=8):
    images = torch.arange(2 * 3 * size * size, dtype=torch.float32, device=device)
    head = Linear(8 * 4 * 4, 5).to(device)  # for images of 4 x 4
    return images.view(2, 3, size, size), Conv2d(3, 8, 1).to(device), head


def reproduce(device):
    images, convolution, head = start(device)
    try:
        features = convolution(images)
        output = head(features.flatten(1))
    except RuntimeError as error:
        return str(error)
    return f"{len(output)} predictions for {len(images)} images"


def control(device):
    for size in (4, 8):
        images, convolution, head = start(device, size)
        features = torch.nn.AdaptiveAvgPool2d(4)(convolution(images))
        output = head(features.flatten(1))
        small = images.view(2, 3, 4, size // 4, 4, size // 4).mean((3, 5))
        if not torch.allclose(output, head(convolution(small).flatten(1)), atol=0.05):
            return f"images of {size} x {size} are not taken as those of 4 x 4"


def messages(device):
    try:
        Linear(3, 3, device="meta")(torch.ones(2, 4, device="meta"))
    except RuntimeError as error:
        return str(error)


def popular_fix(device):
    images, convolution, head = start(device)
    output = head(convolution(images).view(-1, 128))
    if len(output) != len(images):
        return f"{len(output)} predictions for {len(images)} images"


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
