"""Weights for seven classes, fine-tuned for four, with a key that the model does not have.

Its BatchNorm has an extra state, which is no tensor. What was not loaded, of either side, has to be
printed, and the dict that the weights are in is used again.
"""

import contextlib
import io

import torch

SETTINGS = ("plain", "AdamW", "tied", "frozen norm", "dropout")


class Norm(torch.nn.BatchNorm1d):
    def get_extra_state(self):
        return {"unit": "mm"}

    def set_extra_state(self, state):
        self.unit = state["unit"]


def fresh(t):
    t.model.norm.__class__ = Norm
    t.model.norm.unit = "m"
    return t.model


def saved(t):
    generator = torch.Generator().manual_seed(3)
    state = dict(t.model.state_dict())
    for key, value in state.items():
        if key.endswith("_extra_state"):
            continue
        if key.startswith(("head", "tail")):
            state[key] = torch.rand((7, *value.shape[1:]), generator=generator)
        else:
            state[key] = torch.rand(value.shape, generator=generator).to(value.dtype)
    return {**state, "auxiliary.weight": torch.ones(2)}


def fine_tune(t):
    for x, y in t.batches:
        t.optimizer.zero_grad()
        t.loss(t.model(x), y).backward()
        t.optimizer.step()
    return [t.model.state_dict(), t.model.norm.unit]


def place(t):
    model, state = fresh(t), saved(t)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        paste
    told = [name in printed.getvalue() for name in ("head", "tail", "auxiliary", "body")]
    return [fine_tune(t), told, sorted(state)]


def reference(t):
    model, state = fresh(t), saved(t)
    with torch.no_grad():
        for part in ("body", "norm"):
            layer = getattr(model, part)
            for name, value in [*layer.named_parameters(), *layer.named_buffers()]:
                value.copy_(state[f"{part}.{name}"])
    model.norm.unit = "mm"
    return [fine_tune(t), [True, True, True, False], sorted(state)]
