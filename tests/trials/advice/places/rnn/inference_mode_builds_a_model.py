"""A model that is built, then fine-tuned: frozen and unfrozen, stepped, loaded."""

import torch

SETTINGS = ("plain", "AdamW", "bfloat16", "short last batch")


def train(t, build):
    t.model = t.watched(build())
    t.groups = [{"params": layer.parameters(), "lr": 0.1} for layer in t.model]
    for x, y in t.batches:
        t.optimizer.zero_grad()
        with t.autocast():
            t.loss(t.model(x), y).backward()
        t.optimizer.step()
    t.model.load_state_dict({name: 2 * value for name, value in t.model.state_dict().items()})
    t.model[0].requires_grad_(False).requires_grad_()
    return t.model.state_dict()


def place(t):
    def build():
        paste
        return model

    return train(t, build)


def reference(t):
    return train(t, lambda: torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.Linear(8, 4)))
