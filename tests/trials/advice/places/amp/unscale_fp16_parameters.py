"""Training in float16, against float32."""

import torch

SETTINGS = ("plain", "tied", "dropout", "frozen norm")
TOLERANCE = 0.05


def train(t, step):
    for x, y in t.batches:
        t.optimizer.zero_grad()
        step(x, y)
    return t.model.state_dict()


def place(t):
    model, optimizer, criterion = t.model, t.optimizer, t.loss
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)

    def step(x, y):
        paste

    return train(t, step)


def reference(t):
    return train(t, lambda x, y: (t.loss(t.model(x), y).backward(), t.optimizer.step()))
