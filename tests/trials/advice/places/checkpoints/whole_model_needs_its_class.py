"""One script trains and saves; another, with a class of its own, loads and predicts."""

import io
import sys
import types

import torch

SETTINGS = ("plain", "AdamW", "tied")


def train(t):
    sys.modules["train"] = types.ModuleType("train")
    sys.modules["train"].Net = type("Net", (type(t.model),), {"__module__": "train"})
    model = sys.modules["train"].Net(t.setting)
    model.load_state_dict(t.model.state_dict())
    optimizer = getattr(torch.optim, t.setting.optimizer)(model.parameters(), lr=0.1)
    for x, y in t.batches:
        optimizer.zero_grad()
        t.loss(model(x), y).backward()
        optimizer.step()
    return model


def place(t):
    model, path = train(t), io.BytesIO()
    paste
    path.seek(0)
    del sys.modules["train"].Net
    loaded = torch.load(path, weights_only=False)
    t.model.load_state_dict(loaded)
    return [t.model.eval()(x) for x, _ in t.batches]


def reference(t):
    model = train(t).eval()
    t.model.eval()
    return [model(x) for x, _ in t.batches]
