"""A loop that leaves out the batches that do not fit, and stops for every other error."""

import torch

SETTINGS = ("plain", "AdamW", "dropout", "accumulation")
HUGE = 2**50


def losses(t, attempt):
    def step(batch):
        x, y = batch
        loss = t.loss(t.model(x), y)
        if y.sum() % 2:
            torch.empty(HUGE)
        if y.numel() == 1:
            raise RuntimeError("mat1 and mat2 shapes cannot be multiplied")
        loss.backward()
        return loss

    seen = [attempt(step, batch) for batch in t.batches]
    try:
        x, y = t.batches[0]
        attempt(step, (x, y[:1] * 0))
    except (RuntimeError, ValueError) as error:
        seen.append(type(error).__name__)
    t.optimizer.step()
    return [
        [float(one) if isinstance(one, torch.Tensor) else one for one in seen],
        t.model.state_dict(),
    ]


def place(t):
    def attempt(step, batch):
        paste
        return loss

    return losses(t, attempt)


def reference(t):
    def attempt(step, batch):
        if batch[1].sum() % 2:
            t.model(batch[0])
            return None
        return step(batch)

    return losses(t, attempt)
