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
            outputs += [output.detach(), str(next(model.parameters()).dtype)]
    return outputs


def reference(t):
    outputs = []
    for batch, _ in t.batches * 2:
        outputs += [t.model.eval()(batch).detach().bfloat16(), "torch.float32"]
    return outputs
