"""Two tasks and a term that is sometimes a plain 0.0, compared with gradients added by hand."""

import torch

SETTINGS = ("plain", "tied", "accumulation", "bfloat16", "short last batch")


def train(t, backward):
    for number, (x, y) in enumerate(t.batches):
        with t.autocast():
            scores = t.model(x)
            penalty = scores.square().mean()[None] if number % 2 else 0.0
            losses = [t.loss(scores, y) / t.setting.window, scores.abs().mean(), penalty]
        backward(losses)
        if (number + 1) % t.setting.window == 0:
            t.optimizer.step()
            t.optimizer.zero_grad()
    return t.model.state_dict()


def place(t):
    def backward(losses):
        paste

    return train(t, backward)


def reference(t):
    def backward(losses):
        for loss in losses:
            if isinstance(loss, torch.Tensor):
                loss.backward(torch.full_like(loss, 1 / 3), retain_graph=True)

    return train(t, backward)


TOLERANCE = 0.01
