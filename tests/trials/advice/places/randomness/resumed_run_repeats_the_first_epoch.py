"""Two epochs, the second in another process with a checkpoint, against two without a break."""

import io

import torch
from torch.utils.data import DataLoader, TensorDataset

SETTINGS = ("plain", "AdamW", "tensor lr", "workers", "short last batch")


def epoch(t, model, optimizer, generator):
    dataset = TensorDataset(*(torch.cat(column) for column in zip(*t.batches)))
    options = {"batch_size": 4, "shuffle": True, "num_workers": t.setting.workers}
    for x, y in DataLoader(dataset, generator=generator, **options):
        optimizer.zero_grad()
        t.loss(model(x), y).backward()
        optimizer.step()


def place(t):
    model, optimizer = t.model, t.optimizer
    generator = torch.Generator().manual_seed(0)
    epoch(t, model, optimizer, generator)
    checkpoint = {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "generator": generator.get_state(),
    }
    file = io.BytesIO()
    torch.save(checkpoint, file)
    file.seek(0)
    checkpoint = torch.load(file, map_location="cpu")
    generator = torch.Generator().manual_seed(0)
    paste
    optimizer.load_state_dict(checkpoint["optimizer"])
    epoch(t, model, optimizer, generator)
    return model.state_dict()


def reference(t):
    generator = torch.Generator().manual_seed(0)
    for _ in range(2):
        epoch(t, t.model, t.optimizer, generator)
    return t.model.state_dict()
