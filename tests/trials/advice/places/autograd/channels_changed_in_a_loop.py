"""An attack on normalized images and on scaled rows, against a loop that stacks new channels."""

import torch

SETTINGS = ("plain", "AdamW", "bfloat16")


def attack(t, scale):
    results = []
    std = [0.2, 0.3, 0.5]
    for size, std in (((3, 4, 5), std), ((3, 5), std), ((3, 4, 5), torch.tensor(std))):
        pixels = torch.randn(size, dtype=t.setting.dtype, requires_grad=True)
        optimizer = getattr(torch.optim, t.setting.optimizer)([pixels], lr=0.1)
        for _ in range(3):
            image = scale(pixels * 1, std)
            optimizer.zero_grad()
            image.square().sum().backward()
            optimizer.step()
            results += [image.detach().float(), str(image.dtype), pixels.detach().float().clone()]
    return results


def place(t):
    def scale(image, std):
        paste
        return image

    return attack(t, scale)


def reference(t):
    return attack(t, lambda image, std: torch.stack([c * float(s) for c, s in zip(image, std)]))


TOLERANCE = 0.02
