"""Features of one token per sequence, with and without gradients, kept and saved."""

import io
import weakref

import torch

SETTINGS = ("plain", "dropout", "bfloat16")


def encoder(t):
    """(rows, 6) -> (rows, 20 tokens, 4), of the last batch one row, whose slice is contiguous."""
    alive = []

    def encode(x):
        with t.autocast():
            hidden = t.model(x)
        alive.append(weakref.ref(hidden))
        rows = 1 if x is t.batches[-1][0] else len(x)
        return hidden[:rows].float().square().unsqueeze(1).repeat(1, 20, 1)

    return encode, alive


def place(t):
    encode, alive = encoder(t)
    features = []
    for grad in (True, False):
        with torch.set_grad_enabled(grad):
            for x, _ in t.batches:
                output = encode(x)
                paste
    del output
    file = io.BytesIO()
    torch.save(features, file)
    storages = [getattr(each, "untyped_storage", each.storage)() for each in features]
    held = sum(hidden() is not None for hidden in alive)
    size = sum(one.nbytes() for one in storages)
    return [torch.cat(features).detach(), size, file.tell() // 20_000, held]


def reference(t):
    encode, _ = encoder(t)
    rows = [row[0] for _ in range(2) for x, _ in t.batches for row in encode(x).tolist()]
    return [torch.tensor(rows), 4 * 4 * len(rows), 0, 0]
