"""Twenty epochs, with progress in the first six; the learning rates of two groups."""

import torch

SETTINGS = ("plain", "AdamW")


def place(t):
    weights = [torch.zeros(1, requires_grad=True) for _ in range(2)]
    groups = [{"params": [weight], "lr": lr} for weight, lr in zip(weights, (0.5, 0.25))]
    optimizer, rates, epochs = getattr(torch.optim, t.setting.optimizer)(groups, lr=1.0), [], 20

    def train_and_validate(epoch):
        rates.append([group["lr"] for group in optimizer.param_groups])
        optimizer.step()
        return 10.0 - min(epoch, 5)

    paste
    return rates


def reference(t):
    # The best epoch is 5, patience is 1: each second epoch after it divides the rates by ten.
    factors = [1.0] * 8 + [0.1 ** (1 + n // 2) for n in range(12)]
    return [[0.5 * factor, 0.25 * factor] for factor in factors]
