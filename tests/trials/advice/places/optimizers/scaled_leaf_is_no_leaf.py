"""An image that is optimized for a model, compared with steps written out.

It starts from the output of another network, which stays as it is.
"""

import torch

SETTINGS = ("plain", "frozen norm")


def loss(t, image):
    x, y = t.batches[0]
    t.model.eval()
    return t.loss(t.model(x * image[0].repeat(3)), y)


def place(t):
    device, content = "cpu", 1 * torch.tensor([0.5, 1.0], requires_grad=True)
    paste
    for _ in range(4):
        optimizer.zero_grad()
        loss(t, image).backward()
        optimizer.step()
    return image, image.is_leaf, content


def reference(t):
    content = torch.tensor([0.5, 1.0])
    image = torch.tensor([[0.5, 1.0]], requires_grad=True)
    for _ in range(4):
        loss(t, image).backward()
        image = (image - 0.1 * image.grad).detach().requires_grad_()
    return image, True, content
