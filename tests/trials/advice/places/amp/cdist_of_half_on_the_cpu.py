"""Nearest neighbours of 16-bit embeddings, compared with the distances in float64."""

import torch

SETTINGS = ("plain", "short last batch")


def embeddings(t, dtype):
    return [x.to(dtype) for x, _ in t.batches]


def place(t):
    found = []
    for dtype in (torch.float16, torch.bfloat16):
        keys = torch.cat(embeddings(t, dtype))
        for queries in embeddings(t, dtype):
            paste
            found.append([distances, distances.float().topk(3, largest=False).indices])
    return found


def reference(t):
    found = []
    for dtype in (torch.float16, torch.bfloat16):
        keys = torch.cat(embeddings(t, dtype)).double()
        for queries in embeddings(t, dtype):
            distances = (queries.double()[:, None] - keys).square().sum(-1).sqrt().to(dtype)
            found.append([distances, distances.float().topk(3, largest=False).indices])
    return found
