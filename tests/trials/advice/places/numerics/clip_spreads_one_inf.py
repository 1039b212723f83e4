"""A model clipped to 0.5, with one batch of infinite gradients, and at last one of up to 3e38.

Of the last step the direction counts: the fix makes it shorter where a square overflows.
"""

import torch

SETTINGS = ("plain", "AdamW", "tied", "frozen norm", "bfloat16", "tensor lr")
TOLERANCE = 1e-3


def train(t, step):
    t.model.eval()
    for number, (x, y) in enumerate(t.batches):
        t.optimizer.zero_grad()
        with t.autocast():
            loss = t.loss(t.model(x), y)
        if number == 1:
            loss = loss + (loss - loss.detach()).sqrt()
        if number == 4:
            t.optimizer.state.clear()
            before = torch.nn.utils.parameters_to_vector(t.model.parameters()).detach()
        loss.backward()
        if number == 4:
            gradients = [p.grad for p in t.model.parameters() if p.grad is not None]
            largest = max(gradient.abs().max() for gradient in gradients)
            for gradient in gradients:
                gradient.div_(largest).mul_(3e38)
        step()
    move = torch.nn.utils.parameters_to_vector(t.model.parameters()).detach() - before
    return [before, move / move.norm()]


def place(t):
    model, optimizer = t.model, t.optimizer

    def step():
        paste

    return train(t, step)


def reference(t):
    def step():
        gradients = [p.grad for p in t.model.parameters() if p.grad is not None]
        norm = torch.cat([gradient.flatten().double() for gradient in gradients]).norm()
        if norm.isfinite():
            for gradient in gradients:
                gradient.copy_(gradient.double() * (0.5 / norm).clamp(max=1))
            t.optimizer.step()

    return train(t, step)
