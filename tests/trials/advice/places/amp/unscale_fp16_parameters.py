"""A model loaded in float16 whose last loss is infinite, against float32 without that loss."""

import torch

SETTINGS = ("plain", "tied", "dropout", "frozen norm")
TOLERANCE = 0.05


def train(t, step):
    for x, y in t.batches:
        t.optimizer.zero_grad()
        step(x, y)
    return list(t.model.parameters())


def place(t):
    model, optimizer, dtypes, factors = t.model, t.optimizer, [], [1, 1, 1, 1, 1, float("inf")]
    model.half()
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)

    def criterion(output, y):
        dtypes.append(str(output.dtype))
        return t.loss(output, y) * factors.pop(0)

    def step(x, y):
        paste

    result = train(t, step)
    optimizer.zero_grad()
    step(*t.batches[0])
    return [result, dtypes, scaler.get_scale()]


def reference(t):
    t.model.half().float()
    result = train(t, lambda x, y: (t.loss(t.model(x), y).backward(), t.optimizer.step()))
    return [result, ["torch.float16"] * 6, 512.0]
