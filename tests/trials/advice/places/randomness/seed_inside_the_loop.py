"""Five noisy steps of a training; twice, since a seed is there to be repeated."""

import torch

SETTINGS = ("plain", "AdamW", "dropout")


def run(t, loop):
    """The noise of each step."""
    seen = []

    def train(noisy):
        t.optimizer.zero_grad()
        t.loss(t.model(noisy), t.batches[0][1]).backward()
        t.optimizer.step()
        seen.append(noisy.detach())

    loop(t.batches[0][0], train)
    return [seen, t.model.state_dict()]


def place(t):
    def loop(x, train):
        paste

    return run(t, loop)


def reference(t):
    def loop(x, train):
        generator = torch.Generator().manual_seed(0)
        for noise in [torch.randn(x.shape, generator=generator) for _ in range(5)]:
            train(x + noise)

    return run(t, loop)
