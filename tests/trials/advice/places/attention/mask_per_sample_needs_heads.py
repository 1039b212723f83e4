"""Two layers with a boolean or a float mask for each sample, against each sample on its own."""

import torch

SETTINGS = ("plain", "bfloat16", "short last batch")


def train(t, attend):
    layers = [torch.nn.MultiheadAttention(8, 4, batch_first=True) for _ in range(2)]
    results = []
    for x, _ in t.batches:
        x = torch.cat([x, -x], dim=1).view(len(x), 3, 4).repeat(1, 1, 2).requires_grad_()
        mask = torch.ones(3, 3, dtype=torch.bool).triu(1).repeat(len(x), 1, 1)
        mask[0] = mask[0].T.clone()
        for mask in (mask, torch.zeros(mask.shape).masked_fill(mask, -float("inf"))):
            with t.autocast():
                y, weights = attend(layers, x, mask)
            y.float().square().sum().backward()
            results += [y.float(), weights.float(), x.grad.clone()]
    return results


def place(t):
    def attend(layers, x, mask):
        for attention in layers:
            paste
            x = y
        return y, weights

    return train(t, attend)


def reference(t):
    def attend(layers, x, mask):
        for attention in layers:
            alone = [attention(*[s[None]] * 3, attn_mask=m) for s, m in zip(x, mask)]
            x = torch.cat([y for y, _ in alone])
        return x, torch.cat([w for _, w in alone])

    return train(t, attend)


TOLERANCE = 0.01
