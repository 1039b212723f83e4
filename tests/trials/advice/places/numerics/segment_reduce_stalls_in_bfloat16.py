"""Readouts of one small and one large graph in bfloat16; each graph averaged alone in float64."""

import torch

SETTINGS = ("plain",)
TOLERANCE = 2e-2


def readout(average):
    lengths = torch.tensor([3, 4096, 40])
    weight = torch.tensor([1.0, 2.0], requires_grad=True)
    nodes = torch.linspace(0.5, 1.5, int(lengths.sum())).unsqueeze(1)
    mean = average((nodes * weight).bfloat16(), lengths)
    mean.float().square().sum().backward()
    return [str(mean.dtype), mean.float(), weight.grad]


def place(t):
    def average(x, lengths):
        paste
        return mean

    return readout(average)


def reference(t):
    def average(x, lengths):
        return torch.stack([part.double().mean(0) for part in x.split(lengths.tolist())]).bfloat16()

    return readout(average)
