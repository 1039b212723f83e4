"""The weights that a wrapper saved under `model.` are fine-tuned."""

import torch

SETTINGS = ("plain", "tied", "frozen norm", "AdamW")


def trained(t):
    generator = torch.Generator().manual_seed(3)
    state = t.model.state_dict()
    drawn = {key: torch.rand(value.shape, generator=generator) for key, value in state.items()}
    if t.setting.tied:
        drawn["tail.weight"] = drawn["head.weight"]
    return {key: drawn[key].to(value.dtype) for key, value in state.items()}


def fine_tune(t):
    for x, y in t.batches:
        t.optimizer.zero_grad()
        t.loss(t.model(x), y).backward()
        t.optimizer.step()
    return t.model.state_dict()


def place(t):
    model = t.model
    state = {f"model.{key}": value for key, value in trained(t).items()}
    paste
    return fine_tune(t)


def reference(t):
    saved = trained(t)
    with torch.no_grad():
        for key, value in [*t.model.named_parameters(), *t.model.named_buffers()]:
            value.copy_(saved[key])
    return fine_tune(t)
