"""A trained model predicts rows of a table, which are lists of Python numbers."""

import torch

SETTINGS = ("plain", "AdamW", "bfloat16")


def predict(t, run):
    t.model.train()
    for x, y in t.batches:
        t.optimizer.zero_grad()
        t.loss(t.model(x), y).backward()
        t.optimizer.step()
    t.model.eval()
    outputs = []
    with torch.no_grad(), t.autocast():
        for x, _ in t.batches:
            outputs.append(run(t.model, x.tolist()).float())
    wide = torch.nn.Linear(6, 2).double()
    return [outputs, run(wide, x.tolist())]


def place(t):
    def run(model, batch):
        paste
        return output

    return predict(t, run)


def reference(t):
    def run(model, batch):
        dtype = torch.float64 if isinstance(model, torch.nn.Linear) else torch.float32
        return model(torch.stack([torch.tensor(row, dtype=dtype) for row in batch]))

    return predict(t, run)
