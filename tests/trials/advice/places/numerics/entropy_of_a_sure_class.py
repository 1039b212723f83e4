"""A policy with an entropy bonus, sure of some actions, with one action masked in every second batch."""

import torch

SETTINGS = ("plain", "AdamW", "frozen norm", "bfloat16", "accumulation")
TOLERANCE = 1e-3


def train(t, entropy_of):
    entropies = []
    t.model.eval()
    for number, (x, y) in enumerate(t.batches):
        with t.autocast():
            output = t.model(x)
        logits = output.float() * 100 ** (number % 3)  # up to thousands
        if number % 2:
            logits = logits.masked_fill(torch.arange(4) == (y[:, None] + 1) % 4, float("-inf"))
        entropy = entropy_of(logits)
        (t.loss(output.float(), y) - 0.01 * entropy.mean()).backward()
        if (number + 1) % t.setting.window == 0 or number + 1 == len(t.batches):
            t.optimizer.step()
            t.optimizer.zero_grad()
        entropies.append(entropy)
    return [entropies, t.model.state_dict()]


def place(t):
    def entropy_of(logits):
        paste
        return entropy

    return train(t, entropy_of)


def reference(t):
    def entropy_of(logits):
        rows = []
        for row in logits.double():
            row = row[row > row.max() - 80]  # the rest adds less than 1e-30
            rows.append(
                row.exp().sum().log() - (row.softmax(0) * row).sum()
                if row.max() < 500
                else shifted(row)
            )
        return torch.stack(rows).float()

    def shifted(row):
        row = row - row.max().detach()
        return row.exp().sum().log() - (row.softmax(0) * row).sum()

    return train(t, entropy_of)
