"""Features of the frames of clips, of any length."""

import torch
from torch import nn

SETTINGS = ("plain", "bfloat16")


def start():
    generator = torch.Generator().manual_seed(1)
    torch.manual_seed(0)
    return torch.rand(2, 4, 3, 6, 6, generator=generator), nn.Conv2d(3, 5, 3)


def place(t):
    outputs = []
    for clips in (start()[0], start()[0][:, :1], start()[0][1:]):
        convolution = start()[1]
        with t.autocast():
            paste
        outputs.append(output)
    return outputs


def reference(t):
    clips, convolution = start()
    with t.autocast():
        each = [[convolution(frame[None]) for frame in clip] for clip in clips]
    return [torch.cat(sum(each, [])), torch.cat([clip[0] for clip in each]), torch.cat(each[1])]
