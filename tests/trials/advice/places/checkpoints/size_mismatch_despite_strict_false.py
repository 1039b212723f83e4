"""Weights for seven classes, fine-tuned for four, with a key that the model does not have."""

import torch

SETTINGS = ("plain", "AdamW", "tied", "frozen norm", "dropout")


def saved(t):
    generator = torch.Generator().manual_seed(3)
    state = {key: value.clone() for key, value in t.model.state_dict().items()}
    for key, value in state.items():
        if key.startswith(("head", "tail")):
            state[key] = torch.rand((7, *value.shape[1:]), generator=generator)
        elif value.is_floating_point():
            state[key] = torch.rand(value.shape, generator=generator)
    return {**state, "auxiliary.weight": torch.ones(2)}


def fine_tune(t):
    for x, y in t.batches:
        t.optimizer.zero_grad()
        t.loss(t.model(x), y).backward()
        t.optimizer.step()
    return t.model.state_dict()


def place(t):
    model, state = t.model, saved(t)
    paste
    return fine_tune(t)


def reference(t):
    state = saved(t)
    with torch.no_grad():
        for part in ("body", "norm"):
            layer = getattr(t.model, part)
            for name, value in [*layer.named_parameters(), *layer.named_buffers()]:
                value.copy_(state[f"{part}.{name}"])
    return fine_tune(t)
