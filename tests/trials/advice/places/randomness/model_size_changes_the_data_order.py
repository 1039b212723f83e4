"""The orders of two epochs, after models of two sizes were made, and of another seed."""

import torch
from torch.utils.data import DataLoader  # noqa: F401  (the lines call it)

SETTINGS = ("plain",)


def place(t):
    def orders(width, seed):
        torch.manual_seed(seed)
        torch.nn.Linear(4, width)
        dataset = list(range(30))
        paste
        return [[int(row) for row in loader] for _ in range(2)]

    state = torch.get_rng_state()
    small, large, other = orders(8, 0), orders(9, 0), orders(8, 1)
    torch.set_rng_state(state)
    rows = [sorted(order) for order in (*small, *other)]
    return [small == large, small[0] == small[1], small == other, rows]


def reference(t):
    return [True, False, False, [list(range(30))] * 4]
