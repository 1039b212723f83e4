"""Two tasks, of which the second is switched off after a batch, and on again for the last."""

import torch
from torch.nn.parallel import DistributedDataParallel

from tests.trials.advice.trainers import on_ranks

SETTINGS = ("AdamW", "plain", "tensor lr", "dropout", "bfloat16", "short last batch", "two ranks")


class Tasks(torch.nn.Module):
    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, x):
        hidden = self.net.dropout(torch.relu(self.net.norm(self.net.body(x))))
        return self.net.head(hidden), self.net.tail(hidden)


def train(t, step, tasks, rank=0):
    ranks = t.setting.ranks
    for number, batch in enumerate(t.batches):
        shards = [[column[n::ranks] for column in batch] for n in range(ranks)]
        losses = []
        for x, y in shards if rank is None else [shards[rank]]:
            with t.autocast():
                losses.append([t.loss(logits, y) for logits in tasks(x)])
        t.optimizer.zero_grad(set_to_none=True)
        main, aux = (sum(column) / len(column) for column in zip(*losses))
        step(t.optimizer, main, aux, 1.0 if number in (0, 4) else 0.0)
    return list(t.model.head.parameters()) + list(t.model.tail.parameters())


def place(t):
    def step(optimizer, main, aux, weight):
        paste

    def on_a_rank(rank):
        return train(
            t, step, DistributedDataParallel(Tasks(t.model), find_unused_parameters=True), rank
        )

    if t.setting.ranks > 1:
        assert t.model and t.optimizer  # what is observed
        return on_ranks(on_a_rank)
    return train(t, step, Tasks(t.model))


def reference(t):
    def step(optimizer, main, aux, weight):
        (main + weight * aux).backward()
        if not weight:
            t.model.tail.weight.grad = None
            t.got_gradient.discard("tail.weight")
        optimizer.step()

    if t.setting.ranks > 1:
        trained = train(t, step, Tasks(t.model), rank=None)
        t.got_gradient.clear()
        return [trained] * 2
    return train(t, step, Tasks(t.model))
