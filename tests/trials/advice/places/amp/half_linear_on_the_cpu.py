"""A checkpoint in float16, evaluated on the CPU, compared with the same weights in float64."""

import copy

import torch

SETTINGS = ("plain", "tied", "dropout", "short last batch")


def load(t):
    saved = {
        name: value.half() if value.is_floating_point() else value
        for name, value in t.model.state_dict().items()
    }
    model = copy.deepcopy(t.model).half().eval()
    model.load_state_dict(saved)
    return model


def place(t):
    model, outputs = load(t), []
    for batch, _ in t.batches:
        x = batch.half()
        with torch.no_grad():
            paste
        outputs.append(output)
    return [outputs, sorted(model.state_dict())]


def reference(t):
    model = load(t).double()
    outputs = [model(batch.half().double()).detach().float() for batch, _ in t.batches]
    return [outputs, sorted(model.state_dict())]
