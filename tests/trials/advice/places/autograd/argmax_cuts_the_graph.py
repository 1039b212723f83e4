"""A classifier, with pixels as a third dimension too, against the log probability of each label."""

import torch

SETTINGS = ("plain", "AdamW", "tied", "accumulation", "short last batch")


def train(t, of):
    t.model.double()
    for number, (x, y) in enumerate(t.batches):
        scores = t.model(x.double())
        loss = of(scores, y) + of(torch.stack([scores, scores * 0.5], 2), torch.stack([y, y], 1))
        (loss / t.setting.window).backward()
        if (number + 1) % t.setting.window == 0:
            t.optimizer.step()
            t.optimizer.zero_grad()
    return t.model.state_dict()


def place(t):
    def of(scores, y):
        paste
        return loss

    return train(t, of)


def reference(t):
    def of(scores, y):
        shifted = scores - scores.logsumexp(1, keepdim=True)
        return -shifted.gather(1, y[:, None]).mean()

    return train(t, of)
