"""A network that removes noise, with two strides of 2, is trained on images of three sizes."""

import torch
from torch import nn

SETTINGS = ("plain", "AdamW", "bfloat16")
SIZES = ((8, 8), (9, 7), (6, 11))
TOLERANCE = 0.02


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Conv2d(1, 2, 3, stride=2, padding=1)
        self.deep = nn.Conv2d(2, 2, 3, stride=2, padding=1)
        self.up = nn.ConvTranspose2d(2, 1, 4, stride=4)

    def forward(self, image):
        return image + self.up(torch.relu(self.deep(torch.relu(self.down(image)))))


def train(t, run):
    torch.manual_seed(0)
    model = t.model = t.watched(Net())
    generator = torch.Generator().manual_seed(1)
    outputs = []
    for size in SIZES:
        image = torch.randn(2, 1, *size, generator=generator)
        t.optimizer.zero_grad()
        with t.autocast():
            output = run(model, image)
        nn.functional.l1_loss(output.float(), image * 0.5).backward()
        t.optimizer.step()
        outputs.append(output.float().detach())
    return outputs


def place(t):
    def run(model, image):
        paste
        return output

    return train(t, run)


def reference(t):
    def by_index(model, image):
        height, width = image.shape[2:]
        rows = [min(n, height - 1) for n in range((height + 3) // 4 * 4)]
        columns = [min(n, width - 1) for n in range((width + 3) // 4 * 4)]
        return model(image[:, :, rows][..., columns])[:, :, :height, :width]

    return train(t, by_index)
