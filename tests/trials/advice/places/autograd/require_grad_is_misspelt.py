"""A model whose body is frozen after the first batch, against a body that is run without grad."""

import torch

SETTINGS = ("plain", "AdamW", "tied", "frozen norm", "dropout", "accumulation", "short last batch")


def step(t, model, batches):
    for number, (x, y) in enumerate(batches, 1):
        t.loss(model(x), y).backward()
        if number % t.setting.window == 0:
            t.optimizer.step()
            t.optimizer.zero_grad(set_to_none=True)


def place(t):
    t.optimizer
    backbone = t.model.body
    step(t, t.model, t.batches[:2])
    t.got_gradient.clear()
    paste
    step(t, t.model, t.batches[2:])
    return t.model.state_dict()


def reference(t):
    model, _ = t.model, t.optimizer
    step(t, model, t.batches[:2])
    t.got_gradient.clear()
    model.body.requires_grad_(False)

    def with_frozen_body(x):
        with torch.no_grad():
            hidden = x @ model.body.weight.T + model.body.bias
        hidden = model.dropout(torch.relu(model.norm(hidden)))
        return model.head(hidden) + model.tail(hidden)

    step(t, with_frozen_body, t.batches[2:])
    return model.state_dict()
