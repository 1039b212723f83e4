"""Epochs over normalized rows, against the normalized rows without a loader."""

import torch

SETTINGS = ("plain", "AdamW", "workers", "short last batch")


class Rows(torch.utils.data.Dataset):
    def __init__(self, rows):
        self.rows, self.mean = rows, rows.mean()

    def __len__(self):
        return len(self.rows)

    paste


def train(t, batches):
    seen = []
    for _ in range(3):
        for x in batches:
            t.optimizer.zero_grad()
            t.model(x).square().mean().backward()
            t.optimizer.step()
            seen.append(x.clone())
    return [t.model.state_dict(), seen]


def place(t):
    rows = torch.cat([x + 3 for x, _ in t.batches])
    loader = torch.utils.data.DataLoader(
        Rows(rows), 4, num_workers=t.setting.workers, persistent_workers=t.setting.workers > 0
    )
    return [train(t, loader), rows]


def reference(t):
    rows = torch.cat([x + 3 for x, _ in t.batches])
    return [train(t, (rows - rows.mean()).split(4)), rows]
