"""Linear regression by hand, compared with the gradient in closed form and the solution."""

import torch

X = torch.linspace(-1, 1, 20)[:, None] ** torch.arange(2)
Y = 3 * X[:, 1] + 1


def place(t):
    w = torch.zeros(2, requires_grad=True)
    same, path = w, []
    for _ in range(300):
        loss = (X @ w - Y).square().mean()
        paste
        path.append(w.detach().clone())
    return [torch.stack(path), w, w.requires_grad, w.is_leaf, w is same]


def reference(t):
    w, path = torch.zeros(2), []
    for _ in range(300):
        w = w - 0.1 * 2 / len(X) * X.T @ (X @ w - Y)
        path.append(w)
    return [torch.stack(path), torch.tensor([1.0, 3.0]), True, True, True]
