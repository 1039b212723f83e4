"""Distillation of a class per row, and of a class per token, beside a cross entropy."""

import torch
from torch.nn.functional import kl_div, log_softmax, softmax  # noqa: F401  (the lines call kl_div)

SETTINGS = ("plain", "AdamW", "tied", "bfloat16", "short last batch")
TOLERANCE = 1e-3


def train(t, divergence_of):
    teacher = torch.linspace(-1, 1, 24).view(6, 4)
    losses = []
    for x, y in t.batches:
        for tokens in (1, 3):
            t.optimizer.zero_grad()
            with t.autocast():
                logits = t.model(x)
            goal = x @ teacher
            if tokens > 1:
                logits, goal = (one[:, None].expand(-1, tokens, -1) for one in (logits, goal))
            term = divergence_of(log_softmax(logits.float(), -1), softmax(goal, -1))
            (t.loss(t.model(x), y) + term).backward()
            t.optimizer.step()
            losses.append(term.detach())
    return [losses, t.model.state_dict()]


def place(t):
    def divergence_of(log_probs, target):
        paste
        return loss

    return train(t, divergence_of)


def reference(t):
    def divergence_of(log_probs, target):
        of_each = (target * (target.log() - log_probs)).flatten(0, -2).sum(1)
        return of_each.sum() / len(of_each)

    return train(t, divergence_of)
