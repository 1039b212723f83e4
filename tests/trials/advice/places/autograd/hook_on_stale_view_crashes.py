"""A hook that doubles the gradient of a slice, compared with a change out of place."""

import torch

SETTINGS = ("plain",)


def place(t):
    leaf = torch.arange(1.0, 9.0, requires_grad=True)
    base, seen = leaf * 1, []
    view = base[:2]

    def hook(grad):
        seen.append(grad.clone())
        return grad * 2

    paste
    (view.square().sum() + base.sum()).backward()
    return [leaf.grad, seen, base, view]


def reference(t):
    x = torch.arange(1.0, 9.0)
    gradient = torch.full((8,), 3.0)  # of base.sum()
    gradient[:2] += 3 * 2 * 2 * 3 * x[:2]  # of the view's part, doubled
    return [gradient, [2 * 3 * x[:2]], 3 * x, 3 * x[:2]]
