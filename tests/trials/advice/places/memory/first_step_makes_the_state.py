"""A trial before training, at the start and when resuming; what is in memory at its last forward."""

import gc

import torch

SETTINGS = ("plain", "AdamW", "tied", "frozen norm", "tensor lr")


def in_memory():
    """How many parameters have state in an optimizer, how many a gradient that is not zero; and
    how many optimizers there are.
    """
    found = gc.get_objects()
    optimizers = [one for one in found if issubclass(type(one), torch.optim.Optimizer)]
    gradients = [one.grad for one in found if type(one) is torch.nn.Parameter]
    held = sum(grad is not None and bool(grad.any()) for grad in gradients)
    return sum(len(one.state) for one in optimizers), held, len(optimizers)


def train(t, attempt):
    last, optimizer = [], t.optimizer
    for number, (x, y) in enumerate(t.batches[:3]):
        if number != 1:
            seen = []

            def criterion(output, labels):
                state, gradients, _ = in_memory()
                seen.append((state > before[0], gradients - before[1]))
                return t.loss(output, labels)

            gc.collect()
            before = in_memory()
            optimizers = attempt(t.model, optimizer, criterion, x, y)
            last.append((seen[-1:], optimizers - before[2]))
        optimizer.zero_grad()
        t.loss(t.model(x), y).backward()
        optimizer.step()
    return [last, t.model.state_dict()]


def place(t):
    def attempt(model, optimizer, criterion, x, y):
        paste
        return in_memory()[2]

    return train(t, attempt)


def reference(t):
    _, state = train(t, lambda model, optimizer, criterion, x, y: in_memory()[2])
    return [[([(True, 0)], 0)] * 2, state]
