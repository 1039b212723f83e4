"""A GAN on three epochs of batches, whose gradients are computed for each network alone."""

import torch
from torch import nn

SETTINGS = ("plain", "AdamW", "short last batch")


def run(t, step):
    torch.manual_seed(0)
    generator = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 6))
    discriminator = nn.Sequential(nn.Linear(6, 8), nn.LeakyReLU(), nn.Linear(8, 1))
    kind = getattr(torch.optim, t.setting.optimizer)
    g_optimizer = kind(generator.parameters(), lr=0.05)
    d_optimizer = kind(
        [{"params": discriminator[0].parameters()}, {"params": discriminator[2].parameters()}],
        lr=0.05,
    )
    for x, _ in t.batches * 3:
        step(generator, discriminator, g_optimizer, d_optimizer, x, torch.randn(len(x), 3))
    return [generator.state_dict(), discriminator.state_dict()]


def place(t):
    criterion = nn.BCEWithLogitsLoss()

    def step(generator, discriminator, g_optimizer, d_optimizer, x, z):
        ones, zeros = torch.ones(len(x), 1), torch.zeros(len(x), 1)
        fake = generator(z)
        paste

    return run(t, step)


def reference(t):
    def descend(model, optimizer, loss):
        parameters = list(model.parameters())
        for parameter, grad in zip(parameters, torch.autograd.grad(loss, parameters)):
            parameter.grad = grad
        optimizer.step()

    def step(generator, discriminator, g_optimizer, d_optimizer, x, z):
        with torch.no_grad():
            fake = generator(z)
        real_term = nn.functional.softplus(-discriminator(x)).mean()
        fake_term = nn.functional.softplus(discriminator(fake)).mean()
        descend(discriminator, d_optimizer, real_term + fake_term)
        loss = nn.functional.softplus(-discriminator(generator(z))).mean()
        descend(generator, g_optimizer, loss)

    return run(t, step)
