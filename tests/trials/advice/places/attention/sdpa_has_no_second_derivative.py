"""A critic with attention and a gradient penalty, compared with attention by hand."""

import torch

REQUIRES = ">=2.3"
SETTINGS = ("plain", "AdamW", "short last batch")


def train(t, attend):
    t.model = t.watched(torch.nn.Linear(6, 24, bias=False)).double()
    optimizer = getattr(torch.optim, t.setting.optimizer)(t.model.parameters(), lr=0.01)
    for x, _ in t.batches:
        x = torch.stack([x, -x, x.flip(1)], dim=1).double().requires_grad_()
        q, k, v = t.model(x)[:, None].chunk(3, dim=-1)
        y = attend(q, k, v)
        (gradient,) = torch.autograd.grad(y.sum(), x, create_graph=True)
        optimizer.zero_grad()
        (y.mean() + (gradient.norm(dim=-1) - 1).square().mean()).backward()
        optimizer.step()
    return t.model.state_dict()


def place(t):
    def attend(q, k, v):
        paste
        return y

    return train(t, attend)


def reference(t):
    return train(t, lambda q, k, v: (q @ k.mT / 8**0.5).softmax(-1) @ v)
