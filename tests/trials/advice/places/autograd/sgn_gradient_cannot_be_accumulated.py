"""The sign of weights whose gradients are accumulated, clipped and saved, compared with zeros."""

import io

import torch

SETTINGS = ("plain", "AdamW")


def train(t, backward):
    weight = torch.tensor([-2.0, 0.0, 3.0], requires_grad=True)
    optimizer = getattr(torch.optim, t.setting.optimizer)([weight], lr=0.1)
    for _ in range(3):
        backward(weight)
        torch.nn.utils.clip_grad_norm_([weight], 1.0)
        optimizer.step()
        torch.save(weight.grad, io.BytesIO())
        optimizer.zero_grad(set_to_none=False)
    return [weight, weight.grad]


def place(t):
    def backward(weight):
        paste

    return train(t, backward)


def reference(t):
    def backward(weight):
        weight.grad = torch.zeros(3)

    return train(t, backward)
