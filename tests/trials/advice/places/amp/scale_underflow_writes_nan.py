"""Gradients of 1e-7 that pass through float16, 200 batches with infinite ones between good ones,
then gradients of 1e7, up to the first step; who is told starts with a new scaler.
"""

import torch

SETTINGS = ("plain", "AdamW", "tied")
TOLERANCE = 0.01


def losses(t, dtype):
    for x, y in t.batches:
        t.optimizer.zero_grad()
        output = t.model(x)
        output.register_hook(lambda gradient: gradient * 1e7)
        yield t.loss(output.to(dtype).float(), y) * 1e-7
    for factor in [1.0] + [float("inf")] * 200 + [1.0]:
        for x, y in t.batches[:1] if factor > 1 else t.batches:
            t.optimizer.zero_grad()
            yield t.loss(t.model(x), y) * factor
    x, y = t.batches[0]
    before = t.model.head.weight.detach().clone()
    for _ in range(40):
        if t.model.head.weight.equal(before):
            t.optimizer.zero_grad()
            output = t.model(x)
            output.register_hook(lambda gradient: gradient / 1e7)
            yield t.loss(output.to(dtype).float(), y) * 1e7


def trained(t):  # BatchNorm leaves of the gradient of body.bias only what is rounded
    return [p for name, p in t.model.named_parameters() if name != "body.bias"]


def place(t):
    optimizer, scaler = t.optimizer, torch.amp.GradScaler("cpu")
    for loss in losses(t, torch.float16):
        scaler.scale(loss).backward()
        try:
            paste
        except RuntimeError as error:
            if "a step was skipped" not in str(error):
                raise
            scaler = torch.amp.GradScaler("cpu")
    return trained(t)


def reference(t):
    for loss in losses(t, torch.float32):
        loss.backward()
        if loss.isfinite():
            t.optimizer.step()
    return trained(t)
