"""Ascent on a determinant from matrices of rank 1 to 3, compared with the cofactors."""

import torch

SETTINGS = ("plain",)


def climb(differentiate):
    results = []
    for size in (2, 3):
        row = torch.arange(1.0, size + 1)
        for x in (torch.outer(row, row), torch.eye(size) + torch.outer(row, row.flip(0))):
            x.requires_grad_()
            for _ in range(2):
                gradient = differentiate(x)
                results.append(gradient)
                with torch.no_grad():
                    x += 0.01 * gradient
            results.append(gradient.requires_grad)
    return results


def place(t):
    def differentiate(x):
        paste
        return gradient

    return climb(differentiate)


def cofactor(x, row, column):
    rest = [[x[i, j] for j in range(len(x)) if j != column] for i in range(len(x)) if i != row]
    minor = rest[0][0] if len(rest) == 1 else rest[0][0] * rest[1][1] - rest[0][1] * rest[1][0]
    return (-1) ** (row + column) * minor


def reference(t):
    def differentiate(x):
        x = x.detach()
        return torch.tensor([[cofactor(x, i, j) for j in range(len(x))] for i in range(len(x))])

    return climb(differentiate)


TOLERANCE = 1e-3
