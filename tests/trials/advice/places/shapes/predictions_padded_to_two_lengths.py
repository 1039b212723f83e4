"""The logits of tagged sentences are collected after training: batches of 5, 3 and 4 tokens."""

import torch

SETTINGS = ("plain", "AdamW", "bfloat16", "short last batch")
LENGTHS = (5, 3, 4, 5, 2)


def collect(t):
    outputs = []
    for (x, y), length in zip(t.batches, LENGTHS):
        tokens = x[:, None] + torch.arange(length)[:, None]
        t.optimizer.zero_grad()
        with t.autocast():
            logits = t.model(tokens.flatten(0, 1)).unflatten(0, (len(x), length))
        t.loss(logits[:, 0].float(), y).backward()
        t.optimizer.step()
        outputs.append(logits.float().detach())
    return outputs


def place(t):
    outputs = collect(t)
    paste
    return predictions


def reference(t):
    outputs = collect(t)
    canvas = torch.full((sum(map(len, outputs)), max(LENGTHS), 4), -100.0)
    first = 0
    for output in outputs:
        canvas[first : first + len(output), : output.shape[1]] = output
        first += len(output)
    return canvas
