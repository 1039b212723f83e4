"""An entropy bonus that trains logits, compared with the sum over all outcomes."""

import itertools
import math

import torch
from torch.distributions import Multinomial  # noqa: F401  (the lines call it)

SETTINGS = ("plain",)


def train(entropy_of):
    logits = torch.tensor([0.1, -0.4, 0.9], requires_grad=True)
    entropy = entropy_of(logits.softmax(0))
    entropy.sum().backward()
    return [entropy, logits.grad]


def place(t):
    def entropy_of(probs):
        paste
        return entropy

    return train(entropy_of)


def reference(t):
    def entropy_of(probs):
        total = 0
        for counts in itertools.product(range(5), repeat=3):
            if sum(counts) == 4:
                ways = 24 / math.prod(math.factorial(n) for n in counts)
                p = ways * probs.pow(torch.tensor(counts)).prod()
                total = total - p * p.log()
        return total.expand(3)

    return train(entropy_of)
