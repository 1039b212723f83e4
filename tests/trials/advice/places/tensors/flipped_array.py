"""Images that are flipped as arrays before they are trained."""

import torch

SETTINGS = ("plain", "AdamW", "bfloat16")


def train(t, flip):
    losses = []
    for x, y in t.batches:
        array = x.clone().numpy()
        flipped = flip(array)
        with t.autocast():
            loss = t.loss(t.model(flipped), y)
        t.optimizer.zero_grad()
        loss.backward()
        t.optimizer.step()
        losses += [loss.detach(), flipped, torch.from_numpy(array)]
    return losses


def place(t):
    def flip(image):
        paste
        return image

    return train(t, flip)


def reference(t):
    return train(t, lambda image: torch.from_numpy(image).flip(1))
