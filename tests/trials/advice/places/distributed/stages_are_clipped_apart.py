"""A model in two stages, one on each rank, whose gradients are clipped; against one process.

Then gradients of 300 in float16, whose squares overflow in it.
"""

import torch
import torch.distributed as dist

from tests.trials.advice.trainers import on_ranks

SETTINGS = ("two ranks", "AdamW")


def stages():
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return torch.nn.Linear(6, 5), torch.nn.Linear(5, 4)


def optimizer_of(t, parameters):
    return getattr(torch.optim, t.setting.optimizer)(parameters, lr=0.1)


def clip(stage, max_norm):
    paste


def half_is_right(stage):
    stage = stage.half()
    for parameter in stage.parameters():
        parameter.grad = torch.full_like(parameter, 300.0)
    clip(stage, 0.5)
    return all(bool((p.grad - 0.5 / 59**0.5).abs().max() < 1e-3) for p in stage.parameters())


def on_a_rank(t, rank):
    both = stages()
    stage = both[rank]
    optimizer = optimizer_of(t, stage.parameters())
    whole = torch.nn.Sequential(*both)
    for x, y in t.batches:
        whole.zero_grad()
        (10 * t.loss(whole(x), y)).backward()
        clip(stage, 0.5)
        optimizer.step()
        for owner, part in enumerate(both):
            for parameter in part.parameters():
                dist.broadcast(parameter.data, src=owner)
    return [stage.state_dict(), half_is_right(stages()[rank])]  # of 59 parameters


def place(t):
    return on_ranks(lambda rank: on_a_rank(t, rank))


def reference(t):
    both = stages()
    whole = torch.nn.Sequential(*both)
    optimizer = optimizer_of(t, whole.parameters())
    for x, y in t.batches:
        optimizer.zero_grad()
        (10 * t.loss(whole(x), y)).backward()
        norm = torch.cat([p.grad.flatten() for p in whole.parameters()]).norm()
        for p in whole.parameters():
            p.grad *= min(1.0, 0.5 / float(norm))
        optimizer.step()
    return [[stage.state_dict(), True] for stage in both]
