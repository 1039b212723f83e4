"""Predictions of a mixed-precision model as arrays, with gradients on and off."""

import torch

SETTINGS = ("plain", "bfloat16", "dropout")


def predict(t, as_tensor):
    kept = []
    for grad in (True, False):
        for x, _ in t.batches:
            with torch.set_grad_enabled(grad), t.autocast():
                output = t.model.tail(torch.tanh(t.model.body(x)))
            kept.append(as_tensor(output))
            if grad:
                output.float().sum().backward()
    return [kept, [p.grad for p in t.model.tail.parameters()]]


def place(t):
    def as_tensor(output):
        paste
        return torch.from_numpy(array)

    return predict(t, as_tensor)


def reference(t):
    return predict(t, lambda output: torch.tensor(output.tolist()))
