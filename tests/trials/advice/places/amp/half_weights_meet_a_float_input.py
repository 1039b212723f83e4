"""A model whose weights were loaded in float32 or bfloat16, evaluated on float32 batches."""

import copy

import torch

SETTINGS = ("plain", "tied", "dropout", "frozen norm")
TOLERANCE = 0.05


def place(t):
    t.model.eval()
    outputs = []
    for dtype in (torch.float32, torch.bfloat16):
        model = copy.deepcopy(t.model).to(dtype).eval()
        for batch, _ in t.batches:
            paste
            outputs.append(output.detach())
    return outputs


def reference(t):
    return [t.model.eval()(batch).detach() for _ in range(2) for batch, _ in t.batches]
