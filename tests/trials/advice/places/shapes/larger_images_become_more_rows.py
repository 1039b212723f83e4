"""A network for images of 8 x 8 pixels is trained on images of three sizes."""

import torch
from torch import nn

SETTINGS = ("plain", "AdamW", "bfloat16", "short last batch")
IMAGE_SIZES = ((8, 8), (16, 16), (12, 20), (8, 8), (17, 9))
TOLERANCE = 0.02


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.head = nn.Conv2d(1, 5, 3, padding=1), nn.Linear(5, 4)

    def forward(self, image):
        return self.head(self.pool(torch.relu(self.conv(image)), 5))

    def pool(self, x, channels):
        paste
        return x


class ByMean(Net):
    def pool(self, x, channels):
        return torch.stack([image.flatten(1).mean(1) for image in x])


def train(t, kind):
    torch.manual_seed(0)
    model = t.model = t.watched(kind())
    generator = torch.Generator().manual_seed(1)
    outputs = []
    for (_, y), size in zip(t.batches, IMAGE_SIZES):
        image = torch.randn(len(y), 1, *size, generator=generator)
        t.optimizer.zero_grad()
        with t.autocast():
            output = model(image)
        t.loss(output.float(), y).backward()
        t.optimizer.step()
        outputs.append(output.float().detach())
    return outputs


def place(t):
    return train(t, Net)


def reference(t):
    return train(t, ByMean)
