"""A residual block, compared with its derivative written out."""

import torch

SETTINGS = ("plain", "AdamW", "dropout", "accumulation", "short last batch")


class Block(torch.autograd.Function):
    @staticmethod
    def forward(ctx, z, x):
        ctx.save_for_backward(z)
        return z.clamp(min=0) + x

    @staticmethod
    def backward(ctx, gradient):
        return gradient * (ctx.saved_tensors[0] > 0), gradient


def train(t, block):
    t.model = torch.nn.Sequential(torch.nn.Linear(6, 6), torch.nn.Dropout(t.setting.dropout))
    t.model.append(torch.nn.Linear(6, 4))
    t.watched(t.model)
    for number, (x, y) in enumerate(t.batches):
        hidden = t.model[1](block(t.model[0], block(t.model[0], x)))
        t.loss(t.model[2](hidden), y).backward()
        if (number + 1) % t.setting.window == 0:
            t.optimizer.step()
            t.optimizer.zero_grad()
    return [t.model.state_dict(), t.batches]


def place(t):
    relu = torch.nn.ReLU(inplace=True)

    def block(layer, x):
        paste
        return y

    return train(t, block)


def reference(t):
    return train(t, lambda layer, x: Block.apply(layer(x), x))
