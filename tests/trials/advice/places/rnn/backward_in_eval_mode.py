"""The gradients of a trained recurrent model in eval mode, with dropout between its layers."""

import torch

SETTINGS = ("plain", "bfloat16", "short last batch")
TOLERANCE = 1e-2


def explain(t, backward):
    t.model = t.watched(torch.nn.LSTM(2, 4, num_layers=2, dropout=0.5))
    t.model.eval()
    gradients = []
    for x, _ in t.batches:
        x = x.view(3, -1, 2).requires_grad_()
        t.model.zero_grad()
        with t.autocast():
            backward(t.model, x)
        gradients += [x.grad.clone(), t.model.weight_hh_l0.grad.clone()]
    return gradients


def place(t):
    def backward(lstm, x):
        paste

    return explain(t, backward)


def reference(t):
    return explain(t, lambda lstm, x: lstm(x)[0].sum().backward())
