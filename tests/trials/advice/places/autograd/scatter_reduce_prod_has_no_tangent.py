"""The Jacobian of products over groups, some factors negative or 0, against the products of the others."""

import torch

SETTINGS = ("plain",)

INDEX = torch.tensor([0, 0, 1, 1, 1])


def product(x):
    return torch.scatter_reduce(torch.full((2,), 3.0, dtype=x.dtype), 0, INDEX, x, "prod")


def points():
    return [torch.tensor(x) for x in ([1.0, 2, 3, 4, 5], [-1.0, 2, 0, 4, 5])]


def place(t):
    results = []
    for x in points():
        paste
        results += [derivative, x.requires_grad, derivative.requires_grad]
    return results


def reference(t):
    results = []
    for x in points():
        rows = torch.zeros(2, 5)
        for n, group in enumerate(INDEX.tolist()):
            others = [float(v) for m, v in enumerate(x) if INDEX[m] == group and m != n]
            rows[group, n] = 3 * torch.tensor(others).prod()
        results += [rows, False, False]
    return results
