"""An image that is optimized for a model, against steps written out."""

import torch

SETTINGS = ("plain", "frozen norm")


def loss(t, image):
    x, y = t.batches[0]
    t.model.eval()
    return t.loss(t.model(x * image.repeat(3)), y)


def place(t):
    device = "cpu"
    paste
    for _ in range(4):
        optimizer.zero_grad()
        loss(t, image).backward()
        optimizer.step()
    return image, image.is_leaf


def reference(t):
    image = torch.full((2,), 0.01, requires_grad=True)
    for _ in range(4):
        loss(t, image).backward()
        image = (image - 0.1 * image.grad).detach().requires_grad_()
    return image, True
