"""A recurrent model on the CPU in two dtypes, and on the meta device for a GPU."""

import torch
from torch import nn

SETTINGS = ("plain", "bfloat16", "short last batch")


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(4, 6)
        self.cell = nn.GRUCell(6, 3)

    def forward(self, tokens):
        x = self.embedding(tokens)
        paste
        return state


class ByHand(Net):
    def forward(self, tokens):
        x = self.embedding(tokens)
        state = torch.zeros((len(x), 3), device=x.device, dtype=x.dtype)
        return self.cell(x, state)


def run(t, kind):
    torch.manual_seed(0)
    model = t.model = t.watched(kind().to(t.setting.dtype))
    outputs = [model(y) for _, y in t.batches]
    torch.cat(outputs).float().sum().backward()
    meta = kind().to("meta")(torch.zeros(4, dtype=torch.long, device="meta"))
    return [[one.float() for one in outputs], str(meta.device), str(outputs[0].dtype)]


def place(t):
    return run(t, Net)


def reference(t):
    return run(t, ByHand)
