"""Gates that start at 0 and 1, in a model that is trained, against the derivative written out."""

import torch

SETTINGS = ("plain", "AdamW", "accumulation", "short last batch")


class Clamp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.minimum(torch.ones_like(x)).maximum(torch.zeros_like(x))

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        return gradient * ((x >= 0) & (x <= 1))


def train(t, clamp):
    t.model = torch.nn.Linear(6, 4)
    t.model.gate = torch.nn.Parameter(torch.tensor([0.0, 1.0, 0.5, 0.0, 1.5, 1.0]))
    t.watched(t.model)
    for number, (x, y) in enumerate(t.batches * 4):
        t.loss(t.model(clamp(t.model.gate) * x), y).backward()
        if (number + 1) % t.setting.window == 0:
            t.optimizer.step()
            t.optimizer.zero_grad()
    return t.model.state_dict()


def place(t):
    def clamp(x):
        paste
        return y

    return train(t, clamp)


def reference(t):
    return train(t, Clamp.apply)
