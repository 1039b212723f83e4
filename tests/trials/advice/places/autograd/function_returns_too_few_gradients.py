"""A model with a scaling Function, compared with a multiplication."""

import torch  # noqa: F401 (what is pasted uses it)

SETTINGS = ("plain", "AdamW", "tied", "accumulation", "bfloat16", "short last batch")

paste


def train(t, scale):
    for number, (x, y) in enumerate(t.batches):
        with t.autocast():
            loss = t.loss(scale(t.model(scale(x, 0.5)), 3.0), y)
        loss.backward()
        if (number + 1) % t.setting.window == 0:
            t.optimizer.step()
            t.optimizer.zero_grad()
    return t.model.state_dict()


def place(t):
    return train(t, Scale.apply)


def reference(t):
    return train(t, lambda x, factor: x * factor)
