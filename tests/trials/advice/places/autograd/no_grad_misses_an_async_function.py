"""Predictions of an async server between training steps, against predictions without asyncio."""

import asyncio

import torch

SETTINGS = ("plain", "tied", "dropout", "bfloat16", "short last batch")


def run(t, serve):
    results = []
    for x, y in t.batches:
        t.model.eval()
        results.append(serve(x))
        t.model.train()
        t.optimizer.zero_grad()
        t.loss(t.model(x), y).backward()
        t.optimizer.step()
    return [results, [result.requires_grad for result in results], t.model.state_dict()]


def place(t):
    model = t.model
    paste

    async def answer(x):
        with t.autocast():
            result = await asyncio.gather(predict(x), predict(x.flip(0)))
        return torch.cat(result)

    return run(t, lambda x: asyncio.run(answer(x)))


def reference(t):
    def serve(x):
        with t.autocast():
            return torch.cat([t.model(x).detach(), t.model(x.flip(0)).detach()])

    return run(t, serve)
