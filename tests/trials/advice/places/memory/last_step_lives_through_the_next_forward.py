"""A training loop that counts the outputs that are alive in each forward pass, step by step."""

import weakref

SETTINGS = ("plain", "AdamW", "tied", "frozen norm", "dropout", "short last batch")


def start(t):
    outputs, alive = [], []
    t.model.register_forward_pre_hook(
        lambda *call: alive.append(sum(output() is not None for output in outputs))
    )
    t.model.register_forward_hook(lambda *call: outputs.append(weakref.ref(call[2])))
    return alive


def place(t):
    alive = start(t)
    model, loader, criterion, optimizer = t.model, t.batches, t.loss, t.optimizer
    paste
    return [alive, model.state_dict()]


def reference(t):
    start(t)
    for x, y in t.batches:
        loss = t.loss(t.model(x), y)
        t.optimizer.zero_grad()
        loss.backward()
        t.optimizer.step()
    return [[0, 0, 0, 0, 0], t.model.state_dict()]
