"""A learned warp whose flow is NaN at some points, compared with the same with those points at -1.

Others are infinite, and belong to the edge that they lie beyond.
"""

import torch

SETTINGS = ("plain", "AdamW")


def train(t, sample, hole):
    t.model = t.watched(torch.nn.Conv2d(1, 2, 3, padding=1))
    optimizer = getattr(torch.optim, t.setting.optimizer)(t.model.parameters(), lr=0.01)
    base = torch.nn.functional.affine_grid(torch.eye(2, 3)[None], [1, 1, 5, 5], align_corners=False)
    outputs = []
    for _ in range(3):
        x = torch.randn(1, 1, 5, 5, requires_grad=True)
        grid = base + t.model(x).permute(0, 2, 3, 1)
        holes = torch.zeros(1, 5, 5, 2, dtype=torch.bool)
        holes[:, 1, 1, 0] = holes[:, 3, 2, 1] = True
        grid = grid.masked_fill(holes, hole)
        grid[:, 2, 2, 0], grid[:, 4, 4, 1] = float("inf"), float("-inf")
        y = sample(x, grid)
        optimizer.zero_grad()
        y.square().mean().backward()
        optimizer.step()
        outputs += [y, x.grad]
    return [t.model.state_dict(), outputs]


def place(t):
    def sample(x, grid):
        paste
        return y

    return train(t, sample, float("nan"))


def reference(t):
    def at(pixels, rows, columns):
        return pixels[rows.clamp(0, 4), columns.clamp(0, 4)]

    def sample(x, grid):
        column, row = ((grid[0] + 1) * 2.5 - 0.5).clamp(0, 4).unbind(-1)
        left, top = column.floor().long(), row.floor().long()
        right, down = column - left, row - top
        up = at(x[0, 0], top, left) * (1 - right) + at(x[0, 0], top, left + 1) * right
        low = at(x[0, 0], top + 1, left) * (1 - right) + at(x[0, 0], top + 1, left + 1) * right
        return (up * (1 - down) + low * down)[None, None]

    return train(t, sample, -1.0)
