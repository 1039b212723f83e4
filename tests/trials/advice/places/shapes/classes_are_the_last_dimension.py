"""A tagger is trained on sentences of 3, 4 and 6 words; there are four tags."""

import torch
from torch.nn.functional import cross_entropy

SETTINGS = ("plain", "AdamW", "bfloat16", "short last batch")
LENGTHS = (3, 4, 6, 4, 2)
TOLERANCE = 0.02


def train(t, loss_of):
    losses = []
    for (x, y), length in zip(t.batches, LENGTHS):
        words = x[:, None] + torch.arange(length)[:, None] / 4
        labels = (y[:, None] + torch.arange(length)) % 4
        t.optimizer.zero_grad()
        with t.autocast():
            logits = t.model(words.flatten(0, 1)).unflatten(0, (len(x), length))
            loss = loss_of(logits, labels)
        loss.backward()
        t.optimizer.step()
        losses.append(loss.detach())
    return losses


def place(t):
    def loss_of(logits, labels):
        paste
        return loss

    return train(t, loss_of)


def reference(t):
    def word_by_word(logits, labels):
        pairs = [(a, b) for row in zip(logits, labels) for a, b in zip(*row)]
        return sum(a.float().logsumexp(0) - a[b].float() for a, b in pairs) / len(pairs)

    return train(t, word_by_word)
