# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "BatchNorm after pooling to 1 x 1 raises with a batch size of one"
# kind = "error"
# symptom = "Expected more than 1 value per channel"
# messages = ["Expected more than 1 (?:value per channel|spatial element) when training"]
# keywords = [
#     "ASPP image pooling",
#     "torch.Size([1, 256, 1, 1])",
#     "drop_last=True does not help",
#     "DeepLab batch size 1",
#     "one sample per GPU",
#     "segmentation training fails when batch size is one",
#     "deeplab does not train with one image per GPU",
#     "set batch to one to save memory, now crashes",
#     "squeeze and excite with batch norm and one image",
# ]
# origin = "design"
# reports = [
#     "https://github.com/TRAILab/CaDDN/issues/103",
#     "https://github.com/jfzhang95/pytorch-deeplab-xception/issues/41",
#     "https://github.com/nv-tlabs/GSCNN/issues/28",
# ]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.GroupNorm.html",
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/nn/functional.py",
# ]
# wrong = '''
# model = Sequential(AdaptiveAvgPool2d(1), BatchNorm2d(4))
# '''
# right = '''
# model = Sequential(AdaptiveAvgPool2d(1), GroupNorm(2, 4))
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""Every other BatchNorm of the model accepts a batch of one: their maps have many positions.

Behind a pooling to 1 x 1 each channel has a single value, which batch_norm() refuses in
train mode (torch/nn/functional.py). drop_last=True, tried in TRAILab/CaDDN#103, drops
nothing: all batches are full.
"""

import torch
from torch.nn import AdaptiveAvgPool2d, BatchNorm2d, GroupNorm, Sequential
from torch.utils.data import DataLoader


def train(device, norm, **options):
    model = Sequential(AdaptiveAvgPool2d(1), norm).to(device)
    try:
        for images in DataLoader(torch.ones(2, 4, 8, 8), batch_size=1, **options):
            model(images.to(device))
    except ValueError as error:
        return str(error)


def reproduce(device):
    return train(device, BatchNorm2d(4))


def control(device):
    return train(device, GroupNorm(2, 4))


def popular_fix(device):
    return train(device, BatchNorm2d(4), drop_last=True)


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
