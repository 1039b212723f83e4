"""A prediction after every step of a training, and of the model that is served afterwards. The
norm, which can be frozen, has a second parent.
"""

from copy import deepcopy

import torch

SETTINGS = ("plain", "AdamW", "tied", "frozen norm", "dropout", "bfloat16")


def train(t, predict):
    predictions = []
    t.model.again = torch.nn.Sequential(t.model.norm)
    t.model.norm.train(t.setting.name != "plain")  # in eval mode, with gradients
    for x, y in t.batches:
        t.optimizer.zero_grad()
        with t.autocast():
            t.loss(t.model(x), y).backward()
        t.optimizer.step()
        predictions.append(predict(t.model, x).detach())
    t.model.eval()
    return [predictions, predict(t.model, x).detach(), t.model.state_dict()]


def place(t):
    def predict(model, x):
        paste
        return prediction

    return train(t, predict)


def reference(t):
    return train(t, lambda model, x: deepcopy(model).eval()(x))
