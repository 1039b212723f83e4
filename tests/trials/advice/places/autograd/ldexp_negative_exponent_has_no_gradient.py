"""Weights scaled by powers of two in four dtypes, compared with a multiplication."""

import torch

SETTINGS = ("plain", "AdamW")


def train(t, scale):
    results, exponent = [], torch.tensor([-3, -1, 0, 2])
    for dtype in (torch.float32, torch.float64, torch.bfloat16):
        x = torch.ones(4, dtype=dtype, requires_grad=True)
        optimizer = getattr(torch.optim, t.setting.optimizer)([x], lr=0.1)
        for _ in range(3):
            y = scale(x, exponent)
            optimizer.zero_grad()
            y.sum().backward()
            optimizer.step()
        results += [x.detach().float(), y.detach().float(), str(y.dtype), str(exponent.dtype)]
    y = scale(torch.tensor([1024, 2**-10]).half(), torch.tensor([-25, 17]))
    results.append(y.float() * torch.tensor([1024, 1]))
    return results


def place(t):
    def scale(x, exponent):
        paste
        return y

    return train(t, scale)


def reference(t):
    return train(t, lambda x, exponent: (x.double() * 2.0**exponent).to(x.dtype))
