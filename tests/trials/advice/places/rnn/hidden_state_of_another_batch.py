"""A recurrent model with a short last batch, and one sample that is predicted at the end."""

import torch

SETTINGS = ("plain", "AdamW", "bfloat16", "short last batch")
TOLERANCE = 1e-2


def train(t, run):
    t.model = t.watched(torch.nn.GRU(2, 2, batch_first=True))
    t.groups = [{"params": [p], "lr": 0.1} for p in t.model.parameters()]
    outputs = []
    for x, y in t.batches:
        t.optimizer.zero_grad()
        with t.autocast():
            output = run(t.model, x.view(-1, 3, 2), 4)
        t.loss(output[:, -1].float(), y % 2).backward()
        t.optimizer.step()
        outputs.append(output.float())
    wide = torch.nn.GRU(2, 2, batch_first=True).double()
    return [outputs, run(t.model, x[:1].view(1, 3, 2), 4), run(wide, x.view(-1, 3, 2).double(), 4)]


def place(t):
    def run(gru, x, batch_size):
        paste
        return output

    return train(t, run)


def reference(t):
    return train(t, lambda gru, x, batch_size: gru(x)[0])
