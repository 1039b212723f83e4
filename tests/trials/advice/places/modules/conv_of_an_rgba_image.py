"""Features of images in colour and grey, with and without an alpha channel, and without a batch.

Images whose channels come last, and those of seven bands, are refused as before.
"""

import torch
from torch import nn

SETTINGS = ("plain", "bfloat16")


def start():
    generator = torch.Generator().manual_seed(1)
    torch.manual_seed(0)
    return torch.rand(4, 4, 6, 6, generator=generator), nn.Conv2d(3, 5, 3, padding=1)


def place(t):
    images, convolution = start()
    outputs = []
    single = (images[0], images[0, :3], images[0, :1])
    for image in (images, images[:, :3], images[:1], images[:, :1], images[:, :2], *single):
        with t.autocast():
            paste
        outputs.append(output)
    for image in (images.permute(0, 2, 3, 1), images.repeat(1, 2, 1, 1)[:, :7]):
        try:
            paste
            outputs.append("taken")
        except RuntimeError:
            outputs.append("refused")
    return outputs


def reference(t):
    images, convolution = start()
    with t.autocast():
        outputs = [convolution(torch.stack([*one[:3]])[None]) for one in images]
        grey = [convolution(torch.stack([one[0]] * 3)[None]) for one in images]
    every, every_grey, refused = torch.cat(outputs), torch.cat(grey), ["refused"] * 2
    single = [outputs[0][0], outputs[0][0], grey[0][0]]
    return [every, every, outputs[0], every_grey, every_grey, *single, *refused]
