# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Images of different sizes cannot be put into one batch"
# kind = "error"
# symptom = "stack expects each tensor to be equal size"
# messages = [
#     "stack expects each tensor to be equal size, but got",
#     "Trying to resize storage that is not resizable",
# ]
# elsewhere = [
#     "sizes of tensors must match except in dimension [^1-9]\\. got \\d{1,9} and \\d{1,9} in dimension",
# ]
# origin = "usage"
# reports = [
#     "https://github.com/qubvel-org/segmentation_models.pytorch/issues/472",
#     "https://github.com/milesial/Pytorch-UNet/issues/285",
#     "https://github.com/lxtGH/DecoupleSegNets/issues/32",
# ]
# documents = [
#     "https://docs.pytorch.org/docs/stable/data.html#working-with-collate-fn",
#     "https://docs.pytorch.org/vision/stable/generated/torchvision.transforms.Resize.html",
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/utils/data/_utils/collate.py",
# ]
# wrong = '''
# def __getitem__(self, index):
#     return self.images[index], self.labels[index]
# '''
# right = '''
# from torch.nn.functional import interpolate
# def __getitem__(self, index):
#     # (C, H, W); a mask: mode="nearest-exact" without antialias, as (1, H, W) in uint8 or float
#     image = self.images[index][None]
#     image = interpolate(image, size=(8, 8), mode="bilinear", antialias=True)[0]
#     return image, self.labels[index]
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The batch is a single tensor: default_collate() stacks the samples with torch.stack(), so all
samples need the same shape. In a worker, the batch is stacked in shared memory. If the first image
has more pixels than the average image of the batch, the worker's error is "Trying to resize storage
that is not resizable" (torch/utils/data/_utils/collate.py).

Resizing to one number, as Resize(256) does, fixes the shorter side and keeps the aspect ratio, so
the longer sides still differ (docs: torchvision.transforms.Resize; lxtGH/DecoupleSegNets#32). Pass
both sides, or pad the images in your own collate_fn.

The default mode of interpolate(), nearest, picks single pixels: a chessboard of 16 x 16 becomes a
black square of 8 x 8. For masks, use nearest-exact, because nearest shifts a mask relative to its
image by up to half a new pixel. The mask must be uint8 or float, not int64 or bool. On torch 1.13,
but not on 2.3, convert uint8 images with float() first. Always convert float16 and bfloat16 images.
"""

import torch
from torch.nn.functional import interpolate
from torch.utils.data import DataLoader, Dataset


class Images(Dataset):
    def __init__(self, device):
        self.images = [torch.ones(3, *size, device=device) for size in ((16, 16), (8, 12))]
        self.labels = [0, 1]

    def __len__(self):
        return 2

    def __getitem__(self, index):
        return self.images[index], self.labels[index]


class Resized(Images):
    def __getitem__(self, index):
        # (C, H, W); a mask: mode="nearest-exact" without antialias, as (1, H, W) in uint8 or float
        image = self.images[index][None]
        image = interpolate(image, size=(8, 8), mode="bilinear", antialias=True)[0]
        return image, self.labels[index]


class ShorterSide(Images):
    def __getitem__(self, index):
        image = self.images[index]
        return interpolate(image[None], scale_factor=8 / min(image.shape[1:]))[0], 0


def load(dataset, **options):
    try:
        ((images, labels),) = DataLoader(dataset, batch_size=2, **options)
    except RuntimeError as error:
        return str(error)
    if images.shape != (2, 3, 8, 8) or images.min() < 1 or labels.tolist() != [0, 1]:
        return f"images {tuple(images.shape)} and labels {labels.tolist()}"


def reproduce(device):
    return load(Images(device))


def control(device):
    return load(Resized("cpu"))  # where datasets hold their images


def messages(device):
    return load(Images("cpu"), num_workers=1)


def popular_fix(device):
    return load(ShorterSide(device))


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
