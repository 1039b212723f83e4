"""A normalization of sensor values between convolutions, against the same written in float64."""

import torch

SETTINGS = ("plain",)
TOLERANCE = 2e-2


def train(t, normalize):
    x = torch.randn(4, 8, 8, 8) + torch.tensor([0.0, 1000, 4000, 9000]).view(4, 1, 1, 1)
    x = x.contiguous(memory_format=torch.channels_last).requires_grad_()
    t.model = t.watched(torch.nn.GroupNorm(2, 8))
    with torch.no_grad():
        t.model.weight.uniform_(0.5, 2)
    y = normalize(t.model, x)
    (y * torch.randn(4, 8, 8, 8)).sum().backward()
    gradients = [x.grad, t.model.weight.grad, t.model.bias.grad]
    return [y, y.is_contiguous(memory_format=torch.channels_last), gradients, str(y.dtype)]


def place(t):
    def normalize(norm, x):
        paste
        return y

    return train(t, normalize)


def reference(t):
    def normalize(norm, x):
        z = x.double().reshape(4, 2, -1)
        z = (z - z.mean(-1, keepdim=True)) / (z.var(-1, unbiased=False, keepdim=True) + 1e-5).sqrt()
        y = z.view(4, 8, 8, 8) * norm.weight.view(1, 8, 1, 1) + norm.bias.view(1, 8, 1, 1)
        return y.float().contiguous(memory_format=torch.channels_last)

    return train(t, normalize)
