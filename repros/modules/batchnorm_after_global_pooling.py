# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "BatchNorm after pooling to 1 x 1 fails in train mode with a batch size of one"
# kind = "error"
# symptom = "Expected more than 1 value per channel"
# messages = [
#     "Expected more than 1 value per channel when training",
#     "Expected more than 1 spatial element when training",
# ]
# origin = "design"
# reports = [
#     "https://github.com/TRAILab/CaDDN/issues/103",
#     "https://github.com/jfzhang95/pytorch-deeplab-xception/issues/41",
#     "https://github.com/nv-tlabs/GSCNN/issues/28",
# ]
# documents = ["https://github.com/pytorch/pytorch/blob/v2.13.0/torch/nn/functional.py"]
# wrong = '''
# model = Sequential(AdaptiveAvgPool2d(1), BatchNorm2d(4))
# model.train()
# '''
# right = '''
# model = Sequential(AdaptiveAvgPool2d(1), BatchNorm2d(4))
# model.train()
# model[1].eval()  # after every train()
# '''
# rule = "note"
# when = "a batch has only one image in train mode"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""With larger maps, BatchNorm accepts a batch of one, because each channel has many positions.

After pooling to 1 x 1, each channel has a single value, which batch_norm() rejects in train mode
(torch/nn/functional.py). With the corrected line, this layer uses its running statistics: those of
the pretrained model, or a mean of 0 and a variance of 1. Its weight and bias are still trained.
With track_running_stats=False the layer has no statistics, so it raises the error in eval mode too.
Passing drop_last=True, as tried in TRAILab/CaDDN#103, drops nothing because all batches are full.
GroupNorm can be trained, but with two values per group, its output is about 1 or -1 unless the two
values are almost equal. For 1 x 1 maps, InstanceNorm raises a different error, by default even in
eval mode, so omit this layer.
"""

import torch
from torch.nn import AdaptiveAvgPool2d, BatchNorm2d, GroupNorm, InstanceNorm2d, Sequential
from torch.utils.data import DataLoader

IMAGES = torch.arange(2 * 4 * 8 * 8.0).view(2, 4, 8, 8)


def train(device, model, **options):
    model.to(device)
    try:
        for images in DataLoader(IMAGES, batch_size=1, **options):
            model(images.to(device))
    except ValueError as error:
        return str(error)


def reproduce(device):
    model = Sequential(AdaptiveAvgPool2d(1), BatchNorm2d(4))
    model.train()
    return train(device, model)


def control(device):
    model = Sequential(AdaptiveAvgPool2d(1), BatchNorm2d(4))
    model.train()
    model[1].eval()  # after every train()
    if text := train(device, model):
        return text
    output = model(IMAGES.to(device)).flatten(1).cpu()
    if not torch.allclose(output, IMAGES.mean((2, 3)), rtol=1e-3):  # fresh statistics: 0 and 1
        return f"the pooled features became {output}"


def messages(device):
    layers = AdaptiveAvgPool2d(1), InstanceNorm2d(4)
    return "\n".join(f"{train(device, Sequential(*layers).train(mode))}" for mode in (True, False))


def popular_fix(device):
    text = train(device, Sequential(AdaptiveAvgPool2d(1), BatchNorm2d(4)), drop_last=True)
    images = torch.randn(8, 4, 8, 8, device=device)
    grouped = Sequential(AdaptiveAvgPool2d(1), GroupNorm(2, 4, eps=0)).to(device)(images)
    if torch.allclose(grouped.abs(), torch.ones_like(grouped), atol=0.01):
        return text


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
