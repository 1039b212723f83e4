"""Cross-entropy with a penalty on wrong classes, an ignored label, and labels in uint8, against the
probabilities written out.
"""

import torch

SETTINGS = ("plain", "tied", "accumulation", "short last batch")


def train(t, of):
    t.model.double()
    for number, (x, y) in enumerate(t.batches):
        scores = t.model(x.double())
        pixels = torch.stack([scores, -scores], dim=2)
        padded = torch.cat([y[:1] * 0 - 100, y[1:]])
        loss = of(scores, padded) + of(pixels, torch.stack([y, padded], dim=1))
        (loss + of(scores, y.byte())).mul(0.01).backward()
        if (number + 1) % t.setting.window == 0:
            t.optimizer.step()
            t.optimizer.zero_grad()
    return t.model.state_dict()


def place(t):
    def of(scores, target):
        paste
        return loss

    return train(t, of)


def reference(t):
    def of(scores, target):
        target = target.long()
        e = scores.movedim(1, -1)[target != -100].exp()
        p = (e * torch.nn.functional.one_hot(target[target != -100], 4)).sum(1) / e.sum(1)
        return -p.log().mean() + 100 * (1 - p.mean())

    return train(t, of)
