"""Training with dropout and a frozen BatchNorm in which every step is explained, then served."""

import contextlib
from copy import deepcopy

import torch

SETTINGS = ("plain", "AdamW", "frozen norm")


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


class LSTM(torch.nn.LSTM):
    """In eval mode its backward raises while cuDNN is on, as on a GPU."""

    on_gpu = True

    def forward(self, x):
        output, state = super().forward(x)
        if (
            self.on_gpu
            and not self.training
            and torch.backends.cudnn.enabled
            and output.requires_grad
        ):
            output.register_hook(self.refuse)
        return output, state

    def refuse(self, gradient):
        raise RuntimeError("cudnn RNN backward can only be called in training mode")


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Linear(6, 8)
        self.norm = torch.nn.BatchNorm1d(8)
        self.lstm = LSTM(8, 4, num_layers=2, dropout=0.5)

    def forward(self, x):
        return self.lstm(self.norm(self.embed(x))[None])[0][0]


def run(t, explain):
    t.model = t.watched(Net())
    t.model.norm.train(t.setting.name != "frozen norm")
    gradients = []
    for x, y in t.batches:
        t.optimizer.zero_grad()
        t.loss(t.model(x), y).backward()
        t.optimizer.step()
        with torch.random.fork_rng(devices=[]):  # what it draws is its own affair
            gradients += [explain(t.model, x.requires_grad_()) for _ in range(2)]
    t.model.eval()  # and one that is served
    return gradients + [explain(t.model, x), t.model(x), t.model.state_dict()]


def place(t):
    def explain(model, x):
        paste
        return gradient

    with precise():
        return run(t, explain)


def reference(t):
    def explain(model, x):
        copy = deepcopy(model).eval()
        copy.lstm.on_gpu = False  # on the CPU, where eval mode has a backward
        return torch.autograd.grad(copy(x).sum(), x)[0]

    return run(t, explain)
