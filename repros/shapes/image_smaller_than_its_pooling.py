# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A pooling layer fails on an image that is smaller than the model was built for"
# kind = "error"
# symptom = "Given input size: \\(3x7x7\\). Calculated output size: \\(3x0x0\\). Output size is too small"
# messages = [
#     "Calculated output size: \\(.{3,40}?\\)\\. Output size is too small",
#     "max_pool1d\\(\\) Invalid computed output size: -?\\d{1,9}",
# ]
# origin = "usage"
# reports = [
#     "https://github.com/taoyang1122/GradAug/issues/1",
#     "https://github.com/tamerthamoqa/facenet-pytorch-glint360k/issues/6",
#     "https://github.com/milesial/Pytorch-UNet/issues/134",
#     "https://github.com/pytorch/pytorch/issues/1190",
# ]
# documents = ["https://docs.pytorch.org/docs/stable/generated/torch.nn.AdaptiveAvgPool2d.html"]
# wrong = '''
# x = torch.nn.functional.avg_pool2d(x, 8)  # for features of 8 x 8
# x = x.flatten(1)
# '''
# right = '''
# x = torch.nn.functional.adaptive_avg_pool2d(x, 1)
# x = x.flatten(1)
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The message shows the size of the features before the pooling. For the output, it shows a 0 or a
negative number.

Each layer with a stride and each pooling divides the image's size, until the next kernel no longer
fits into what is left (aten/src/ATen/native/Pool.h). A network for 299 x 299 pixels, such as
Inception, fails on much smaller images (pytorch#1190).

If the error is raised by the last pooling, before the classifier, average over the whole map. If
the old kernel was as large as the map, adaptive_avg_pool2d(x, 1) returns the same result for images
of the old size, so trained weights still fit (taoyang1122/GradAug#1). If one of several max_pool2d
calls raises the error, resize the image to the size for which the model was made, or build the
model with fewer calls. A model with five poolings of 2 needs at least 32 x 32 pixels, and more if
its convolutions have no padding.
"""

import torch


def for_one_size(x):
    x = torch.nn.functional.avg_pool2d(x, 8)  # for features of 8 x 8
    x = x.flatten(1)
    return x


def for_any_size(x):
    x = torch.nn.functional.adaptive_avg_pool2d(x, 1)
    x = x.flatten(1)
    return x


def check(device, pool):
    for side in (8, 7):
        x = torch.arange(6.0 * side**2, device=device).view(2, 3, side, side) / side**2
        try:
            x = pool(x)
        except RuntimeError as error:
            return str(error)
        if not torch.allclose(x, torch.arange(6.0, device=device).view(2, 3) + 0.5, atol=0.02):
            return "the rows are not the means of the images"


def reproduce(device):
    return check(device, for_one_size)


def control(device):
    return check(device, for_any_size)


def messages(device):
    try:
        torch.nn.functional.max_pool1d(torch.ones(1, 1, 1, device=device), 2)
    except RuntimeError as error:
        return str(error)


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
