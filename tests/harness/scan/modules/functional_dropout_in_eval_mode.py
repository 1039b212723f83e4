# ruff: noqa
import torch
import torch.nn as nn
import torch.nn.functional as F


class Drops(nn.Module):
    def __init__(self, p, rate=0.0):
        super().__init__()
        self.p = p
        self.rate = rate
        self.lin = nn.Linear(2, 2)

    def forward(self, x):
        x = F.dropout(x, p=self.p)  # finds functional_dropout_in_eval_mode
        x = F.dropout(x, self.p, self.training)
        x = torch.dropout(x, self.p, self.training)
        x = F.alpha_dropout(x, 0.1)
        x = F.dropout(x, p=0.0)
        x = F.dropout(x, p=self.rate)
        x = F.dropout(x, self.p, **self.options)
        if self.training and self.p:
            x = F.dropout(x, self.p)
        x = F.dropout(x, self.p) if self.training else x
        x = nn.Dropout(0.5)(x)  # finds functional_dropout_in_eval_mode
        return self.noisy(x)

    def pool(self, x):
        rate = self.p if self.training else 0.0
        x = F.dropout2d(x, rate)
        return torch.nn.functional.dropout2d(x)  # finds functional_dropout_in_eval_mode

    def late(self, x):
        if not self.training:
            return x
        return F.dropout(x, self.p)

    def noisy(self, x):
        return self.late(self.masked(x) if self.training else x)

    def attend(self, x, dropout):
        return F.dropout(x, dropout)

    def masked(self, x):
        return F.dropout(x, 0.1)

    @torch.no_grad()
    def sample(self, x):
        return F.dropout(x, 0.1)

    def training_step(self, x):
        return F.dropout(x, 0.1)


class Given(nn.Module):
    def __init__(self, rate=0.0):
        super().__init__()
        self.rate = rate
        self.inner = None if rate else Given(0.1)

    def forward(self, x):
        return F.dropout(x, self.rate)  # finds functional_dropout_in_eval_mode


class Renamed(nn.Module):
    def __init__(self):
        super(Original, self).__init__()

    def forward(self, x):
        return F.dropout(x, 0.5)


class Prenet(nn.Module):
    def forward(self, x):
        return F.dropout(x, 0.5)


class Uncertain(nn.Module):
    def forward(self, x, samples=8):
        return torch.stack([F.dropout(x, 0.1) for _ in range(samples)])

    def augmented(self, x):
        return F.dropout(x, 0.1)


class Views(nn.Module):
    def augmented(self, x):
        return F.dropout(x, 0.1), F.dropout(x, 0.1)


def augment(x):
    return F.dropout(x, 0.5)
