"""Descent on the trace of tall, square and wide matrices, against a loop over the diagonal."""

import torch

SETTINGS = ("plain", "AdamW", "tensor lr")


def train(t, backward):
    rate, results = torch.tensor(0.1) if t.setting.tensor_lr else 0.1, []
    for shape in ((5, 2), (3, 3), (2, 5), (8, 1)):
        for dtype in (torch.float32, torch.bfloat16):
            x = torch.randn(shape).to(dtype).requires_grad_()
            optimizer = getattr(torch.optim, t.setting.optimizer)([x], lr=rate)
            for _ in range(2):
                optimizer.zero_grad()
                backward(x)
                optimizer.step()
            results += [x.detach().float(), x.grad.float()]
    return results


def place(t):
    def backward(x):
        paste

    return train(t, backward)


def reference(t):
    def backward(x):
        x.grad = torch.zeros_like(x)
        for n in range(min(x.shape)):
            x.grad[n, n] = 1

    return train(t, backward)
