"""A loss that overflows in one batch, and is finite with a gradient of nan in another."""

import torch
from torch.nn.parallel import DistributedDataParallel

from tests.trials.advice.trainers import on_ranks

SETTINGS = ("plain", "AdamW", "tied", "frozen norm", "accumulation", "two ranks")


def losses(t, model, rank=0):
    for number, (x, y) in enumerate(t.batches):
        loss = t.loss(model(x), y)
        if number == 1 and rank == 0:
            loss = (1000 * loss).exp()
        elif number == 3:
            loss = loss + (loss * 0).sqrt()
        yield loss / t.setting.window
        # only the last batch of a window steps
        yield (number + 1) % t.setting.window == 0 or number + 1 == len(t.batches)


def place(t):
    def train(rank):
        model = DistributedDataParallel(t.model) if t.setting.ranks > 1 else t.model
        each, optimizer = losses(t, model, rank), t.optimizer
        for loss, steps in zip(each, each):
            if not steps:
                loss.backward()
                continue
            paste
        return t.model.state_dict()

    return on_ranks(train) if t.setting.ranks > 1 else train(0)


def reference(t):
    def train(rank):
        each, good = losses(t, t.model, 1), True
        for number, (loss, steps) in enumerate(zip(each, each)):
            loss.backward()
            good = good and number not in (1, 3)
            if steps:
                if good:
                    t.optimizer.step()
                t.optimizer.zero_grad()
                good = True
        return t.model.state_dict()

    return on_ranks(train, 1) * 2 if t.setting.ranks > 1 else train(0)
