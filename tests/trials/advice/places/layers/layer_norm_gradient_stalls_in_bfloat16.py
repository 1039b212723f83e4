"""A block that normalizes many tokens, compared with its normalization written out in float32."""

import torch

SETTINGS = ("bfloat16", "dropout")
TOLERANCE = 3e-2


class Block(torch.nn.Module):
    def __init__(self, p):
        super().__init__()
        self.inner, self.norm = torch.nn.Linear(6, 8), torch.nn.LayerNorm(8)
        self.dropout, self.head = torch.nn.Dropout(p), torch.nn.Linear(8, 1)

    def forward(self, x, normalize):
        y = normalize(self.norm, self.inner(x))
        return self.head(self.dropout(y)), y


def train(t, normalize):
    t.model = t.watched(Block(t.setting.dropout))
    x = torch.randn(3, 8192, 6)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        output, y = t.model(x, normalize)
    (output.float().mean() + y.float().sum(-1).mean()).mul(len(x)).backward()
    return str(y.dtype), [p.grad for p in t.model.parameters()]


def place(t):
    def normalize(norm, hidden):
        paste
        return y

    return train(t, normalize)


def reference(t):
    def normalize(norm, hidden):
        z = hidden.float()
        z = (z - z.mean(-1, keepdim=True)) / (z.var(-1, unbiased=False, keepdim=True) + 1e-5).sqrt()
        return (z * norm.weight + norm.bias).to(hidden.dtype)

    return train(t, normalize)
