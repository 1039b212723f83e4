"""Two epochs with the mean loss that each reports; a loss has the dtype of autocast."""

import weakref

import torch

SETTINGS = ("plain", "AdamW", "tied", "dropout", "accumulation", "bfloat16")


def train(t, add):
    means, alive, running = [], [], []
    t.model.body.register_forward_hook(lambda *call: alive.append(weakref.ref(call[2])))
    for _ in range(2):
        total = 0.0
        for i, (x, y) in enumerate(t.batches):
            with t.autocast():
                loss = t.loss(t.model(x), y).to(t.setting.dtype)
            total = add(total, loss)
            running.append(total)
            (loss / t.setting.window).backward()
            if (i + 1) % t.setting.window == 0:
                t.optimizer.step()
                t.optimizer.zero_grad()
        for x, y in t.batches:  # a validation that forgets no_grad
            loss = t.loss(t.model(x), y)
            total = add(total, loss)
        del loss
        means.append(total / len(t.batches))
    held = sum(hidden() is not None for hidden in alive)
    numbers = [[float(one) for one in column] for column in (means, running)]
    return [*numbers, held, t.model.state_dict()]


def place(t):
    def add(total, loss):
        paste
        return total

    return train(t, add)


def reference(t):
    return train(t, lambda total, loss: total + loss.item())
