"""The gradients of a trained recurrent model in eval mode, with dropout between its layers."""

import contextlib
from types import SimpleNamespace
from unittest import mock

import torch

SETTINGS = ("plain", "short last batch")
TOLERANCE = 1e-2


@contextlib.contextmanager
def precise():
    """Where torch has it, the program's own setting of how precise cuDNN's RNNs are."""
    rnn = getattr(torch.backends.cudnn, "rnn", None)
    before = getattr(rnn, "fp32_precision", None)
    try:
        if rnn:
            rnn.fp32_precision = "ieee"
        yield
    finally:
        if rnn:
            rnn.fp32_precision = before


def lstm(*arguments):
    if torch.backends.cudnn.enabled and not arguments[6]:  # as on CUDA; that is the mode
        raise RuntimeError("cudnn RNN backward can only be called in training mode")
    return torch._VF.lstm(*arguments)


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

    as_on_cuda = SimpleNamespace(lstm=lstm)
    with precise(), mock.patch.object(torch.nn.modules.rnn, "_VF", as_on_cuda):
        return explain(t, backward)


def reference(t):
    return explain(t, lambda lstm, x: lstm(x)[0].sum().backward())
