# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A convolution for RGB fails on a gray image or an image with an alpha channel"
# kind = "error"
# symptom = "to have 3 channels, but got 4 channels instead"
# messages = ["expected input\\[.{1,40}?\\] to have \\d{1,5} channels, but got \\d{1,5} channels instead"]
# elsewhere = ["Need input\\.size\\[\\d\\] == \\d{1,5} but got"]
# origin = "usage"
# reports = [
#     "https://github.com/sjmoran/deeplpf-image-enhancement/issues/16",
#     "https://github.com/EvilBT/ComfyUI_SLK_joy_caption_two/issues/13",
#     "https://github.com/yanconglin/VanishingPoint_HoughTransform_GaussianSphere/issues/5",
# ]
# documents = ["https://github.com/khdlr/HED-UNet/issues/7"]
# wrong = '''
# output = convolution(image)  # RGBA: [1, 4, height, width]
# '''
# right = '''
# channels = image.shape[-3]
# colours = image[..., :3, :, :] if channels == 4 else image  # RGBA, not CMYK
# if channels < 3:  # grey, or grey with alpha
#     colours = image[..., :1, :, :].expand(*image.shape[:-3], 3, -1, -1)
# output = convolution(colours)
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""Most images pass, but a PNG with transparency causes an error
(sjmoran/deeplpf-image-enhancement#16).

The second dimension of the weight, times groups, is the number of channels that the input must have
(torch/nn/modules/conv.py). An RGBA image has four channels, of which the first three are the
colors. A gray image has one channel, or two with alpha. The corrected code uses its first channel
for all three colors. With any other number of channels, the error remains, for example with the
height of an image whose channels come last, or with the bands of a satellite image.

A CMYK image has four channels too, so its first three are mistaken for colors. A palette image
(GIF, some PNGs) has a single channel, whose indices are mistaken for gray. In a batch that also
contains RGB images, the default collate_fn raises an error before the model does ("stack expects
each tensor to be equal size"). Calling Image.open(path).convert("RGB") in the dataset is right in
all these cases (docs: PIL.Image.Image.convert).
"""

import torch


def start(device):
    image = torch.arange(4 * 8 * 8.0, device=device).view(1, 4, 8, 8)
    return image, torch.nn.Conv2d(3, 16, 3).to(device)


def reproduce(device):
    image, convolution = start(device)
    try:
        output = convolution(image)  # RGBA: [1, 4, height, width]
    except RuntimeError as error:
        return str(error)
    return f"an output of {tuple(output.shape)}"


def control(device):
    image, convolution = start(device)
    red, green, blue, alpha = image[0]
    grey = torch.stack((red, red, red))[None]
    for image, expected in (
        (image, torch.stack((red, green, blue))[None]),
        (red[None, None], grey),
        (torch.stack((red, alpha))[None], grey),
        (image[0, :3], torch.stack((red, green, blue))),  # no batch
    ):
        channels = image.shape[-3]
        colours = image[..., :3, :, :] if channels == 4 else image
        if channels < 3:  # grey, or grey with alpha
            colours = image[..., :1, :, :].expand(*image.shape[:-3], 3, -1, -1)
        output = convolution(colours)
        if not torch.allclose(output, convolution(expected), atol=0.05):
            return f"the output of {channels} channels is not that of the colours"


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
