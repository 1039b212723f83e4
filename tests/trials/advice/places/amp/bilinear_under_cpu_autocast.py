"""Two towers joined by a Bilinear, trained, compared with float32."""

import torch

SETTINGS = ("plain", "tied", "dropout")
TOLERANCE = 0.05


def train(t, forward):
    bilinear = torch.nn.Bilinear(8, 8, 4)
    with torch.no_grad():
        bilinear.weight.copy_(torch.linspace(-0.5, 0.5, 256).view(4, 8, 8))
        bilinear.bias.zero_()
    for x, y in t.batches:
        t.optimizer.zero_grad()
        t.loss(forward(t.model.body, bilinear, x).float(), y).backward()
        t.optimizer.step()
    return [t.model.state_dict(), bilinear.weight.grad, t.model.body.weight.grad]


def place(t):
    device = "cpu"

    def forward(linear, bilinear, x):
        paste
        return output

    return train(t, forward)


def reference(t):
    return train(t, lambda linear, bilinear, x: bilinear(linear(x), linear(x)))
