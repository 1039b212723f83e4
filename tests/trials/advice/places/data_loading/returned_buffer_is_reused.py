"""A model trains on rows from a loader, against the same rows without a loader."""

import torch

SETTINGS = ("plain", "AdamW", "workers", "short last batch")


class Rows(torch.utils.data.Dataset):
    def __init__(self, rows):
        self.rows, self.buffer = rows, torch.zeros(6)

    def __len__(self):
        return len(self.rows)

    paste


def train(t, batches):
    seen = []
    for x in batches:
        t.optimizer.zero_grad()
        t.model(x).square().mean().backward()
        t.optimizer.step()
        seen.append(x.clone())
    return [t.model.state_dict(), seen]


def place(t):
    rows = torch.cat([x for x, _ in t.batches])
    loader = torch.utils.data.DataLoader(Rows(rows), batch_size=4, num_workers=t.setting.workers)
    return train(t, loader)


def reference(t):
    return train(t, [x for x, _ in t.batches])
