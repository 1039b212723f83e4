"""A classifier is trained with the squared error between its scores and one-hot rows."""

import torch

SETTINGS = ("plain", "AdamW", "bfloat16", "short last batch")


def train(t, loss_of):
    losses = []
    for x, labels in t.batches:
        t.optimizer.zero_grad()
        with t.autocast():
            scores = t.model(x).sigmoid()
            loss = loss_of(scores, labels)
        loss.backward()
        t.optimizer.step()
        losses.append(loss.detach())
    return [losses, loss_of(t.model(x), labels.float()[:, None]).detach()]


def place(t):
    def loss_of(scores, labels):
        paste
        return loss

    return train(t, loss_of)


def reference(t):
    def by_hand(scores, labels):
        hits = scores.float()[range(len(labels)), labels.flatten().tolist()]
        squares = scores.float().square().sum() - hits.square().sum() + (hits - 1).square().sum()
        return squares / scores.numel()

    return train(t, by_hand)


TOLERANCE = 0.02
