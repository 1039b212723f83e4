"""A GAN, against one in which each optimizer gets the gradients of its own loss and no others."""

import torch
from torch import nn

SETTINGS = ("plain", "AdamW", "dropout", "short last batch")


def train(t, epoch):
    p = t.setting.dropout
    generator = nn.Sequential(
        nn.Linear(3, 8, bias=False), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 6)
    )
    body = nn.Linear(6, 8), nn.LeakyReLU(0.2, inplace=True), nn.Dropout(p), nn.Linear(8, 1)
    discriminator = nn.Sequential(*body)
    t.model = t.watched(nn.ModuleList([generator, discriminator]))
    optimizers = [
        getattr(torch.optim, t.setting.optimizer)(m.parameters(), lr=0.05) for m in t.model
    ]
    losses = []
    for x, _ in t.batches * 3:
        z, ones, zeros = torch.randn(len(x), 3), torch.ones(len(x), 1), torch.zeros(len(x), 1)
        losses += epoch(*t.model, *optimizers, x, z, ones, zeros)
    return [t.model.state_dict(), losses]


def place(t):
    criterion = nn.BCEWithLogitsLoss()

    def step(generator, discriminator, g_optimizer, d_optimizer, x, z, ones, zeros):
        paste
        return d_loss.item(), g_loss.item()

    return train(t, step)


def reference(t):
    softplus = nn.functional.softplus

    def follow(loss, model, optimizer):
        optimizer.zero_grad()
        loss.backward(retain_graph=True, inputs=list(model.parameters()))
        optimizer.step()
        return loss.item()

    def step(generator, discriminator, g_optimizer, d_optimizer, x, z, ones, zeros):
        fake = generator(z)
        d_loss = softplus(-discriminator(x)).mean() + softplus(discriminator(fake)).mean()
        d = follow(d_loss, discriminator, d_optimizer)
        return d, follow(softplus(-discriminator(fake)).mean(), generator, g_optimizer)

    return train(t, step)
