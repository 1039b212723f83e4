"""An encoder of sounds, some (once all) too short for their text; the reference takes each alone."""

import torch
from torch.nn.functional import ctc_loss

SETTINGS = ("plain", "AdamW", "short last batch")


def train(t, loss_of):
    losses = []
    for number, (x, y) in enumerate(t.batches):
        rows = len(y)
        t.optimizer.zero_grad()
        sounds = x.repeat_interleave(5, dim=0) * torch.linspace(0.5, 1, 5).repeat(rows)[:, None]
        log_probs = t.model(sounds).view(rows, 5, 4).transpose(0, 1).log_softmax(2)
        targets = (y[:, None] + torch.tensor([0, number % 2, 1, 1])) % 3 + 1
        frames = torch.tensor([5, 2, 4, 5] if number != 2 else [1, 2, 2, 3])[:rows]
        lengths = torch.tensor([2, 3, 3, 4])[:rows]
        loss = loss_of(log_probs, targets, frames, lengths)
        loss.backward()
        t.optimizer.step()
        losses.append(loss.detach())
    return [losses, list(t.model.head.parameters())]


def place(t):
    def loss_of(log_probs, targets, frames, lengths):
        paste
        return loss

    return train(t, loss_of)


def reference(t):
    def loss_of(log_probs, targets, frames, lengths):
        of_each = []
        for row, (n, length) in enumerate(zip(frames.tolist(), lengths.tolist())):
            text = targets[row, :length]
            if n >= length + int((text[1:] == text[:-1]).sum()):
                of_each.append(
                    ctc_loss(log_probs[:n, row], text, torch.tensor(n), torch.tensor(length))
                )
        return sum(of_each) / len(of_each) if of_each else 0 * log_probs.sum()

    return train(t, loss_of)
