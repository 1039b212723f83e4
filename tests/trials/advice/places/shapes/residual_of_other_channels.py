"""Three residual blocks: one that keeps the shape, one with more channels, one with a stride."""

import torch
from torch import nn

SETTINGS = ("plain", "AdamW", "bfloat16")
TOLERANCE = 0.02
SHAPES = ((2, 2, 1), (2, 3, 1), (3, 4, 2))


def body(inputs, outputs, stride):
    return nn.Conv2d(inputs, outputs, 3, stride, padding=1)


class Block(nn.Module):
    paste


class ByHand(nn.Module):
    def __init__(self, inputs, outputs, stride=1):
        super().__init__()
        self.body = body(inputs, outputs, stride)
        self.skip, self.stride = nn.Module(), stride
        if (stride, inputs) != (1, outputs):
            layer = nn.Conv2d(inputs, outputs, 1, stride, bias=False)
            self.skip.weight = layer.weight

    def forward(self, x):
        y = self.body(x)
        if hasattr(self.skip, "weight"):
            x = torch.einsum(
                "nchw,oc->nohw", x[..., :: self.stride, :: self.stride], self.skip.weight[..., 0, 0]
            )
        return (x + y).clamp(min=0)


class Net(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.blocks = nn.Sequential(*(kind(*shape) for shape in SHAPES))

    def forward(self, image):
        return self.blocks(image).mean((2, 3))


def train(t, kind):
    torch.manual_seed(0)
    model = t.model = t.watched(Net(kind))
    outputs = []
    for x, y in t.batches:
        image = torch.stack([x, -x], 1)[..., None].expand(-1, -1, -1, 6) + torch.arange(6) / 6
        t.optimizer.zero_grad()
        with t.autocast():
            output = model(image)
        t.loss(output.float(), y).backward()
        t.optimizer.step()
        outputs.append(output.float().detach())
    return outputs


def place(t):
    return train(t, Block)


def reference(t):
    return train(t, ByHand)
