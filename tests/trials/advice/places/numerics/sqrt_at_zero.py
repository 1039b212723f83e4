"""A contrastive loss over pairs, some with the same image twice, with a gradient penalty.

At the end, the distance of an embedding that is NaN, which must not look like a distance of 0.
"""

import torch

SETTINGS = ("plain", "AdamW", "frozen norm", "accumulation")


def train(t, distance_of):
    for number, (x, y) in enumerate(t.batches):
        other = torch.cat([x[:2], x[2:].flip(1)])
        model = t.model.eval()  # one image gives the same embedding twice
        distance = distance_of(model(x), model(other))
        loss = torch.where(y < 2, distance, (1 - distance).clamp(min=0)).mean()
        weights = [one for one in model.parameters() if one.requires_grad]
        slopes = torch.autograd.grad(loss, weights, create_graph=True, allow_unused=True)
        penalty = sum(slope.square().sum() for slope in slopes if slope is not None)
        (loss + 0.01 * penalty).backward()
        if (number + 1) % t.setting.window == 0 or number + 1 == len(t.batches):
            t.optimizer.step()
            t.optimizer.zero_grad()
    lost = torch.full((1, 4), float("nan"))
    return [t.model.state_dict(), distance_of(lost, torch.zeros(1, 4)).isnan().float()]


def place(t):
    def distance_of(a, b):
        paste
        return distance

    return train(t, distance_of)


def reference(t):
    def distance_of(a, b):
        apart = [row.dot(row).sqrt() if row.any() else 0 * row.sum() for row in a - b]
        return torch.stack(apart)

    return train(t, distance_of)
