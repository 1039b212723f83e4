"""Two layers that read a padding mask, trained inside a model whose checkpoint is then compared."""

import torch

SETTINGS = ("plain", "AdamW", "bfloat16")


class Attention(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(6, 6)

    def forward(self, x, mask):
        return self.linear(x).masked_fill(mask, 0)


def train(t, build):
    torch.manual_seed(0)
    losses = []
    for x, y in t.batches:
        mask = x > 1
        with t.autocast():
            output, layers = build(x, mask)
        losses.append(t.loss(output.float(), y))
        losses[-1].backward()
        assert all(p.grad is not None for p in layers.parameters())
    return [losses, layers.state_dict()]


def place(t):
    def build(x, mask):
        paste
        return x, layers

    return train(t, build)


def reference(t):
    def build(x, mask):
        first, second = Attention(), Attention()
        return second(first(x, mask), mask), torch.nn.ModuleList([first, second])

    return train(t, build)
