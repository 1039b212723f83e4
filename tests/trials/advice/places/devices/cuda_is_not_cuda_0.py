"""A loop that moves a batch only if it is not there; the name has an index, and tensors report none."""

import torch

SETTINGS = ("plain",)


def place(t):
    found = []
    for x in (t.batches[0][0], t.batches[0][0].to("meta")):
        for gpu in ("cpu:0", "cpu", torch.device("cpu"), "meta"):
            paste
            found.append(same)
    return found


def reference(t):
    return [True, True, True, False, False, False, False, True]
