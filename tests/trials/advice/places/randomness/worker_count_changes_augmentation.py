"""Noisy rows in two epochs: by 0, 1 and 2 workers, and by another seed."""

import torch
from torch.utils.data import DataLoader, Dataset, RandomSampler

SETTINGS = ("plain", "workers", "short last batch")


class Rows(Dataset):
    def __init__(self, images):
        self.images = images

    def transform(self, image):
        return image + torch.rand(6)

    def __len__(self):
        return len(self.images)

    paste


def epochs(dataset, workers, seed, keep):
    """The noisy rows, and what the training draws meanwhile."""
    torch.manual_seed(seed)
    sampler = getattr(Rows, "Seeded", RandomSampler)(
        dataset, generator=torch.Generator().manual_seed(seed)
    )
    options = {
        "generator": torch.Generator(),
        "num_workers": workers,
        "persistent_workers": keep and workers > 0,
    }
    loader = DataLoader(dataset, batch_size=4, sampler=sampler, **options)
    found = [[(x, torch.rand(1)) for x in loader] for _ in range(2)]
    return [[torch.cat(column) for column in zip(*epoch)] for epoch in found]


def place(t):
    images = torch.cat([x for x, _ in t.batches])
    dataset, keep, state = Rows(images), t.setting.workers > 0, torch.get_rng_state()
    none, one, two = (epochs(dataset, workers, 3, keep) for workers in range(3))
    other = epochs(dataset, 0, 4, keep)
    torch.set_rng_state(state)
    rows = [(x[:, None] - images - 0.5).abs().amax(2).argmin(1) for x, _ in none]
    noise = [(x - images[n])[n.argsort()] for (x, _), n in zip(none, rows)]
    other_rows = (other[0][0][:, None] - images - 0.5).abs().amax(2).argmin(1)
    other_noise = (other[0][0] - images[other_rows])[other_rows.argsort()]
    return {
        "with 1 worker": one,
        "with 2 workers": two,
        "every row once": [n.sort().values.tolist() for n in rows],
        "one order": torch.equal(*rows),
        "noise of the second epoch": bool((noise[0] - noise[1]).abs().amax(1).min() > 1e-3),
        "noise of another seed": bool((noise[0] - other_noise).abs().amax(1).min() > 1e-3),
        "with no worker": none,
    }


def reference(t):
    numbers = list(range(sum(len(x) for x, _ in t.batches)))
    return {
        "every row once": [numbers, numbers],
        "one order": False,
        "noise of the second epoch": True,
        "noise of another seed": True,
    }


def same(seen, expected):
    none, one, two = (seen.pop(f"with {n}") for n in ("no worker", "1 worker", "2 workers"))
    for epoch in zip(none, one, two):
        for alike in zip(*epoch):
            if not all(torch.equal(alike[0], other) for other in alike):
                return "0, 1 and 2 workers differ"
    return "" if seen == expected else f"{seen} instead of {expected}"
