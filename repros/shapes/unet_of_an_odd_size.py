# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A U-Net fails on an image whose height or width is not divisible by the downsampling factor"
# kind = "error"
# symptom = "Sizes of tensors must match except in dimension 1. Expected size 5 but got size 4"
# messages = [
#     "Sizes of tensors must match except in dimension \\d{1,2}\\. Expected size \\d{1,9} but got size \\d{1,9}",
# ]
# elsewhere = ["Sizes of tensors must match except in dimension \\d{1,2}\\. Got \\d{1,9} and \\d{1,9}"]
# origin = "usage"
# reports = [
#     "https://github.com/bigmb/Unet-Segmentation-Pytorch-Nest-of-Unets/issues/55",
#     "https://github.com/bigmb/Unet-Segmentation-Pytorch-Nest-of-Unets/issues/52",
#     "https://github.com/fengzhang427/HEP/issues/4",
#     "https://github.com/lbktrinh/UNet_scAG/issues/1",
# ]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.pad.html",
#     "https://github.com/nikhilroxtomar/Retina-Blood-Vessel-Segmentation-in-PyTorch/issues/2",
# ]
# wrong = '''
# x = torch.cat([skip, up], 1)
# '''
# right = '''
# bottom, side = (a - b for a, b in zip(skip.shape[-2:], up.shape[-2:]))
# up = torch.nn.functional.pad(up, (0, side, 0, bottom))
# x = torch.cat([skip, up], 1)
# '''
# rule = "note"
# when = "the height or width of an image is not divisible by the downsampling factor"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""A U-Net's decoder fails at torch.cat([skip, up], 1), and the two sizes in the message differ by
one pixel.

Pooling turns 5 rows into 2, and upsampling turns these into 4, one row fewer than the skip
connection has. However, torch.cat needs equal sizes in all dimensions except the one along which it
joins (aten/src/ATen/native/TensorShape.h). The height and the width must be divisible by 2 at each
pooling, for example by 16 for a U-Net with four poolings
(bigmb/Unet-Segmentation-Pytorch-Nest-of-Unets#52).

Zeros at the lower and right edges fill the missing row and column. A negative padding crops, which
helps if the upsampled map is the larger one (docs: torch.nn.functional.pad). Cropping the skip
connection instead, as in nikhilroxtomar/Retina-Blood-Vessel-Segmentation-in-PyTorch#2, raises no
error in the model, but the output is smaller than the mask. If the sizes differ by a factor of two,
the decoder uses the wrong skip connection, and padding only hides this mistake. If the convolutions
have no padding, the sizes differ by more: crop the skip connection at its center, as in the
original U-Net. A volume has a third size: use shape[-3:] and pad the depth as well. A signal has
only one size, but shape[-2:] also includes its channels: pad only by (0, side).
"""

import torch
from torch.nn import Conv2d, ConvTranspose2d

IMAGE = torch.arange(35.0).view(1, 1, 5, 7)


class UNet(torch.nn.Module):
    def __init__(self, join):
        super().__init__()
        self.pool, self.up = torch.nn.MaxPool2d(2), ConvTranspose2d(1, 2, 2, stride=2)
        self.head, self.join = Conv2d(3, 1, 1), join

    def forward(self, skip):
        return self.head(self.join(skip, self.up(self.pool(skip))))


def as_they_are(skip, up):
    x = torch.cat([skip, up], 1)
    return x


def padded(skip, up):
    bottom, side = (a - b for a, b in zip(skip.shape[-2:], up.shape[-2:]))
    up = torch.nn.functional.pad(up, (0, side, 0, bottom))
    x = torch.cat([skip, up], 1)
    return x


def cropped(skip, up):
    return torch.cat([skip[..., : up.shape[-2], : up.shape[-1]], up], 1)


def check(device, join):
    unet, image = UNet(join).to(device), IMAGE.to(device)
    try:
        output = unet(image)
    except RuntimeError as error:
        return str(error)
    if output.shape != image.shape:
        return f"the image has the size {[*image.shape[2:]]}, the output {[*output.shape[2:]]}"
    canvas = torch.zeros(1, 3, 5, 7, device=device)
    canvas[:, :1], canvas[:, 1:, :4, :6] = image, unet.up(unet.pool(image))
    if not torch.allclose(output, unet.head(canvas), atol=1e-4):
        return "the output differs from that of a map with zeros at its edges"


def reproduce(device):
    return check(device, as_they_are)


def control(device):
    return check(device, padded)


def popular_fix(device):
    return check(device, cropped)


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
