# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A convolution fails if channels come last, and reshape() silently scrambles the pixels"
# kind = "error"
# symptom = "expected input.{1,30} to have 3 channels, but got 8 channels instead"
# messages = ["expected input\\[.{1,40}?\\] to have \\d{1,5} channels, but got \\d{1,5} channels instead"]
# origin = "usage"
# reports = [
#     "https://github.com/LeeJunHyun/Image_Segmentation/issues/29",
#     "https://github.com/midasklr/facelandmarks/issues/4",
# ]
# documents = [
#     "https://github.com/pytorch/vision/issues/676",
#     "https://github.com/Selen-Suyue/DensePolicy2D/issues/3",
# ]
# wrong = '''
# output = convolution(images)  # [batch, height, width, 3]
# '''
# right = '''
# output = convolution(images.permute(0, 3, 1, 2).contiguous())
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The message reports the image's height as its number of channels.

Convolutions expect [batch, channels, height, width] (docs: torch.nn.Conv2d), but images from NumPy,
OpenCV or PIL have their channels last. Calling view() or reshape() with that shape raises no error,
but does not move the axes: it only splits the memory at different places (pytorch/vision#676,
Selen-Suyue/DensePolicy2D#3). In this reproducer, the mean of each color is lost. Without
contiguous(), the features also have their channels last in memory, and flattening them with view()
usually raises an error.

A single frame of shape [height, width, 3] needs permute(2, 0, 1). OpenCV and PIL return images in
uint8. Whether single or batched, these images also need float() and the scaling that the model was
trained with, such as / 255. OpenCV orders the colors blue, green, red.
"""

import torch


def start(device):
    colour = torch.tensor([1.0, 2.0, 3.0], device=device)
    images = colour.expand(2, 8, 8, 3).contiguous()
    convolution = torch.nn.Conv2d(3, 3, 1, bias=False).to(device)
    torch.nn.init.dirac_(convolution.weight)  # the output is the input
    return images, convolution, colour


def check(output, colour):
    if not torch.allclose(output.mean((0, 2, 3)), colour):
        return "the channels hold a mix of colours"


def reproduce(device):
    images, convolution, colour = start(device)
    try:
        output = convolution(images)  # [batch, height, width, 3]
    except RuntimeError as error:
        return str(error)
    return check(output, colour)


def control(device):
    images, convolution, colour = start(device)
    output = convolution(images.permute(0, 3, 1, 2).contiguous())
    if not output.is_contiguous():
        return "a view() of the features raises"
    return check(output, colour)


def popular_fix(device):
    images, convolution, colour = start(device)
    return check(convolution(images.reshape(2, 3, 8, 8)), colour)


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
