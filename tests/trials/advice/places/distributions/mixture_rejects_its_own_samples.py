"""Counts under a mixture that is trained, and one that is impossible, against the sum written out."""

import torch
from torch.distributions import Binomial, Categorical, MixtureSameFamily  # noqa: F401

SETTINGS = ("plain",)
COUNTS = torch.tensor([0.0, 1.0, 4.0, 3.0])


def train(log_prob_of):
    logits = torch.tensor([0.3, -0.2, 0.1], requires_grad=True)
    chances = torch.tensor([0.2, 0.5, 0.7], requires_grad=True)
    log_prob = log_prob_of(logits, chances, COUNTS)
    log_prob.sum().backward()
    return [log_prob, logits.grad, chances.grad]


def place(t):
    def log_prob_of(logits, chances, values):
        weights, components = Categorical(logits=logits), Binomial(4, chances)
        paste
        return log_prob

    try:
        log_prob_of(torch.zeros(3), torch.full((3,), 0.5), torch.tensor([9.0, 1.0]))
    except ValueError:
        return [*train(log_prob_of), "refused"]
    return "accepted"


def reference(t):
    ways = torch.tensor([1.0, 4.0, 1.0, 4.0])

    def log_prob_of(logits, chances, values):
        n = values[:, None]
        heads = ways[:, None] * chances**n * (1 - chances) ** (4 - n)
        return (heads * logits.softmax(0)).sum(1).log()

    return [*train(log_prob_of), "refused"]
