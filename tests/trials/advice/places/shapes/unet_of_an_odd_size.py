"""A small U-Net with two poolings is trained on images of three sizes."""

import torch
from torch import nn

SETTINGS = ("plain", "AdamW", "bfloat16")
SIZES = ((8, 8), (9, 7), (6, 11))
TOLERANCE = 0.02


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.enter, self.middle, self.deep = (nn.Conv2d(c, 2, 3, padding=1) for c in (1, 2, 2))
        self.ups = nn.ModuleList(
            [nn.ConvTranspose2d(2, 2, 2, stride=2), nn.Upsample(scale_factor=2)]
        )
        self.merges = nn.ModuleList([nn.Conv2d(4, 2, 3, padding=1), nn.Conv2d(4, 2, 3, padding=1)])
        self.head = nn.Conv2d(2, 4, 1)

    def forward(self, image):
        first = torch.relu(self.enter(image))
        second = torch.relu(self.middle(nn.functional.max_pool2d(first, 2)))
        x = torch.relu(self.deep(nn.functional.max_pool2d(second, 2)))
        for skip, up, merge in zip((second, first), self.ups, self.merges):
            x = torch.relu(merge(self.join(skip, up(x))))
        return self.head(x)

    def join(self, skip, up):
        paste
        return x


class OnACanvas(UNet):
    def join(self, skip, up):
        canvas = skip.new_zeros(len(skip), up.shape[1], *skip.shape[2:])
        rows, columns = up.shape[2:]
        canvas[:, :, :rows, :columns] = up
        return torch.cat([skip, canvas], 1)


def train(t, kind):
    torch.manual_seed(0)
    model = t.model = t.watched(kind())
    generator = torch.Generator().manual_seed(1)
    outputs = []
    for size in SIZES:
        image = torch.randn(2, 1, *size, generator=generator)
        mask = torch.randint(0, 4, (2, *size), generator=generator)
        t.optimizer.zero_grad()
        with t.autocast():
            output = model(image)
        t.loss(output.float(), mask).backward()
        t.optimizer.step()
        outputs.append(output.float().detach())
    return outputs


def place(t):
    return train(t, UNet)


def reference(t):
    return train(t, OnACanvas)
