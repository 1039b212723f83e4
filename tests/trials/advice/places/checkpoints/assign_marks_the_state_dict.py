"""A student is trained against its frozen teacher, both from one file."""

import copy

import torch

SETTINGS = ("plain", "AdamW", "tied", "frozen norm")


def train(t, teacher):
    for x, _ in t.batches:
        t.optimizer.zero_grad()
        with torch.no_grad():
            wanted = teacher(2 * x)
        (t.model(x) - wanted).square().mean().backward()
        t.optimizer.step()
    return [t.model.state_dict(), teacher.state_dict()]


def start(t):
    t.optimizer
    teacher = copy.deepcopy(t.model).eval()
    state = {key: value + 0.25 for key, value in t.model.state_dict().items()}
    if t.setting.tied:
        state["tail.weight"] = state["head.weight"]
    state["norm.num_batches_tracked"] = torch.tensor(3)
    ordered = t.model.state_dict()
    ordered.update(state)
    return teacher, t.model, ordered


def place(t):
    teacher, student, state = start(t)
    paste
    return train(t, teacher)


def reference(t):
    teacher, student, state = start(t)
    with torch.no_grad():
        for model in (teacher, student):
            for name, value in [*model.named_parameters(), *model.named_buffers()]:
                value.copy_(state[name])
    return train(t, teacher)
