"""Tokens in some of the batches, against an Adam by hand that moves the rows of the batch only."""

import torch

BATCHES = ([2, 1], [0, 0], [1, 0], [1], [0, 1, 1], [2, 0], [0])


def weigh(rows):
    return (rows * torch.tensor([1.0, 2.0]) + rows**2).sum()


def place(t):
    torch.manual_seed(0)
    paste
    for tokens in BATCHES:
        optimizer.zero_grad()
        weigh(embedding(torch.tensor(tokens))).backward()
        optimizer.step()
    return embedding.weight.detach()


def reference(t):
    torch.manual_seed(0)
    weight = torch.randn(3, 2)
    first, second = torch.zeros(3, 2), torch.zeros(3, 2)
    for step, tokens in enumerate(BATCHES, 1):
        for token in set(tokens):
            grad = tokens.count(token) * (torch.tensor([1.0, 2.0]) + 2 * weight[token])
            first[token] = 0.9 * first[token] + 0.1 * grad
            second[token] = 0.999 * second[token] + 0.001 * grad**2
            scale = (second[token] / (1 - 0.999**step)).sqrt()
            weight[token] -= 0.1 * first[token] / (1 - 0.9**step) / (scale + 1e-8)
    return weight
