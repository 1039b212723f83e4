"""A shuffled, noisy training with a validation after every epoch, compared with one without."""

import torch
from torch.utils.data import DataLoader, Dataset

SETTINGS = ("plain", "AdamW", "dropout", "workers")


class Noisy(Dataset):
    def __init__(self, batches):
        self.x, self.y = (torch.cat(column) for column in zip(*batches))

    def __len__(self):
        return len(self.y)

    def __getitem__(self, index):
        return self.x[index] + torch.rand(6), self.y[index]


def train(t, evaluate):
    dataset = Noisy(t.batches)
    loader = DataLoader(dataset, batch_size=4, shuffle=True, num_workers=t.setting.workers)
    drawn = []
    for _ in range(2):
        for x, y in loader:
            t.optimizer.zero_grad()
            t.loss(t.model(x), y).backward()
            t.optimizer.step()
            drawn.append(y)
        drawn.append(evaluate(t.model, dataset))
    return [torch.cat(drawn[:5] + drawn[6:11]), drawn[5] != drawn[11], t.model.state_dict()]


def place(t):
    def evaluate(model, dataset):
        seen = []

        def validate(model, loader):
            seen.extend(x.tolist() for x, _ in loader)

        paste
        return seen

    return train(t, evaluate)


def reference(t):
    kinds = iter((0, 1))
    return train(t, lambda model, dataset: next(kinds))
