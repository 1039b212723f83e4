"""A classifier of sounds is trained on clips of 9, 5, 7, 20 and 2 samples."""

import torch
from torch import nn

SETTINGS = ("plain", "AdamW", "bfloat16", "short last batch")
LENGTHS = (9, 5, 7, 20, 2)
TOLERANCE = 0.02


def train(t, run):
    torch.manual_seed(0)
    convolutions = nn.Sequential(
        nn.Conv1d(1, 3, 3, stride=2), nn.ReLU(), nn.Conv1d(3, 4, 3, stride=2)
    )
    t.model = t.watched(convolutions)
    generator = torch.Generator().manual_seed(1)
    outputs = []
    for (_, y), length in zip(t.batches, LENGTHS):
        clip = torch.randn(len(y), 1, length, generator=generator)
        t.optimizer.zero_grad()
        with t.autocast():
            logits = run(convolutions, clip).mean(-1)
        t.loss(logits.float(), y).backward()
        t.optimizer.step()
        outputs.append(logits.float().detach())
    return outputs


def place(t):
    def run(convolutions, clip):
        paste
        return features

    return train(t, run)


def reference(t):
    def on_a_canvas(convolutions, clip):
        canvas = torch.zeros(len(clip), 1, max(7, clip.shape[2]))
        canvas[:, :, : clip.shape[2]] = clip
        return convolutions(canvas)

    return train(t, on_a_canvas)
