"""A frozen attention whose output projection is fine-tuned, against one with a trained copy of it."""

import torch

SETTINGS = ("plain", "AdamW", "accumulation", "short last batch")


class Lora(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.delta = torch.nn.Parameter(torch.zeros(6, 6))

    def forward(self, weight):
        return weight + self.delta


def train(t, forward, delta, optimizer):
    for number, (x, _) in enumerate(t.batches):
        forward(x[None] * torch.ones(3, 1, 1)).square().mean().backward()
        if (number + 1) % t.setting.window == 0:
            optimizer.step()
            optimizer.zero_grad()
    return delta.detach()


def place(t):
    attention, lora = torch.nn.MultiheadAttention(6, 2).requires_grad_(False), Lora()
    paste
    optimizer = getattr(torch.optim, t.setting.optimizer)(lora.parameters(), lr=0.1)
    delta = train(t, lambda x: attention(x, x, x)[0], lora.delta, optimizer)
    with torch.no_grad():
        return delta, attention.eval()(*[torch.ones(2, 1, 6)] * 3)[0]


def reference(t):
    attention = torch.nn.MultiheadAttention(6, 2).requires_grad_(False)
    delta = torch.zeros(6, 6, requires_grad=True)
    weight = attention.out_proj.weight.clone()
    optimizer = getattr(torch.optim, t.setting.optimizer)([delta], lr=0.1)

    def forward(x):
        q, k, v = (x @ attention.in_proj_weight.T).unflatten(-1, (3, 2, 3)).permute(2, 1, 3, 0, 4)
        heads = (q @ k.mT / 3**0.5).softmax(-1) @ v
        return heads.permute(2, 0, 1, 3).flatten(2) @ (weight + delta).T

    trained = train(t, forward, delta, optimizer)
    return trained, forward(torch.ones(2, 1, 6))
