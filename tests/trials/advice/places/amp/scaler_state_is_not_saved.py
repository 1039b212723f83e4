"""A run with a scaler that is resumed from a file after two batches, against one without a stop."""

import io

import torch

SETTINGS = ("plain", "AdamW", "tied", "accumulation")
REQUIRES = ">=2.3"


def backward(t, scaler, x, y):
    loss = t.loss((40 * t.model(x)).half().float(), y) / t.setting.window
    scaler.scale(loss).backward()


def train(t, scaler, batches):
    for number, batch in enumerate(batches, 1):
        backward(t, scaler, *batch)
        if number % t.setting.window == 0:
            scaler.step(t.optimizer)
            scaler.update()
            t.optimizer.zero_grad()


def new_scaler():
    return torch.amp.GradScaler("cpu", init_scale=2.0**20, growth_interval=100)


def place(t):
    model, optimizer, scaler, path = t.model, t.optimizer, new_scaler(), io.BytesIO()
    train(t, scaler, t.batches * 4)
    backward(t, scaler, *t.batches[0])
    paste
    optimizer.zero_grad()
    path.seek(0)
    states = torch.load(path)
    scaler = new_scaler()
    for name, part in (("model", model), ("optimizer", optimizer), ("scaler", scaler)):
        if name in states:
            part.load_state_dict(states[name])
    train(t, scaler, t.batches * 4)
    return [model.state_dict(), scaler.get_scale()]


def reference(t):
    scaler = new_scaler()
    train(t, scaler, t.batches * 4)
    backward(t, scaler, *t.batches[0])
    scaler.step(t.optimizer)
    scaler.update()
    t.optimizer.zero_grad()
    train(t, scaler, t.batches * 4)
    return [t.model.state_dict(), scaler.get_scale()]
