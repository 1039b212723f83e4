"""200 batches with infinite gradients between good ones; who is told starts with a new scaler."""

import torch

SETTINGS = ("plain", "AdamW", "tied")


def losses(t):
    for factor in [1.0] + [float("inf")] * 200 + [1.0]:
        for x, y in t.batches[:1] if factor > 1 else t.batches:
            t.optimizer.zero_grad()
            yield t.loss(t.model(x), y) * factor


def place(t):
    optimizer, scaler = t.optimizer, torch.amp.GradScaler("cpu")
    for loss in losses(t):
        scaler.scale(loss).backward()
        try:
            paste
        except RuntimeError as error:
            if "a step was skipped" not in str(error):
                raise
            scaler = torch.amp.GradScaler("cpu")
    return t.model.state_dict()


def reference(t):
    for loss in losses(t):
        loss.backward()
        if loss.isfinite():
            t.optimizer.step()
    return t.model.state_dict()
