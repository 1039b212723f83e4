"""Models of two sizes and another seed: weights, the orders of two epochs, and the draws after them."""

import torch
from torch.utils.data import DataLoader  # noqa: F401  (the lines call it)

SETTINGS = ("plain",)


def place(t):
    def start(width, seed):
        dataset = list(range(30))
        paste
        noise = torch.rand(3)
        return model.weight.detach(), noise, [[int(row) for row in loader] for _ in range(2)]

    with torch.random.fork_rng(devices=[]):
        runs = [start(8, 0), start(9, 0), start(8, 1)]
    small, large, other = (orders for _, _, orders in runs)
    rows = [sorted(order) for order in (*small, *other)]
    drawn = [(weight, noise) for weight, noise, _ in runs]
    return [small == large, small[0] == small[1], small == other, rows, drawn]


def reference(t):
    drawn = []
    with torch.random.fork_rng(devices=[]):
        for width, seed in ((8, 0), (9, 0), (8, 1)):
            torch.manual_seed(seed)
            drawn.append((torch.nn.Linear(4, width).weight.detach(), torch.rand(3)))
    return [True, False, False, [list(range(30))] * 4, drawn]
