"""Features of images with their channels last, as OpenCV gives them, of two shapes, in rows."""

import torch
from torch import nn

SETTINGS = ("plain", "bfloat16")


def start():
    generator = torch.Generator().manual_seed(1)
    torch.manual_seed(0)
    return torch.rand(2, 6, 5, 3, generator=generator), nn.Conv2d(3, 5, 3)


def place(t):
    outputs = []
    for images in (start()[0], start()[0][:, :4]):
        convolution = start()[1]
        with t.autocast():
            paste
        outputs += [output, output.view(len(output), -1)]
    return outputs


def reference(t):
    images, convolution = start()
    with t.autocast():
        outputs = [
            torch.stack([convolution(torch.stack([*one.unbind(-1)])[None])[0] for one in part])
            for part in (images, images[:, :4])
        ]
    return [each for output in outputs for each in (output, output.flatten(1))]
