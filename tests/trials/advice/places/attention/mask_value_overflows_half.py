"""Attention over padded sequences, one of which is empty, in each dtype, with gradients."""

import torch

SETTINGS = ("plain", "bfloat16")


def train(t, run):
    results = []
    for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
        for x, y in t.batches:
            values = x.to(dtype).requires_grad_()
            mask = (torch.arange(6) >= y[:, None])[:, None].expand(-1, 6, -1)
            scores = values[:, :, None] * values[:, None]
            weights = run(scores, mask).to(torch.promote_types(dtype, torch.float32)).softmax(-1)
            (weights * x[:, None]).sum().backward()
            results += [weights, values.grad]
    return results


def place(t):
    def run(scores, mask):
        paste
        return scores

    return train(t, run)


def reference(t):
    def run(scores, mask):
        wide = torch.where(mask, torch.zeros_like(scores), scores)
        return wide.to(torch.promote_types(scores.dtype, torch.float32)) - 1e4 * mask.float()

    return train(t, run)


TOLERANCE = 2e-2
