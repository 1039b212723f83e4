"""Forecasts of sales after a ReLU, with many zeros in forecasts and targets: loss and metric."""

import torch

SETTINGS = ("plain", "AdamW", "frozen norm", "bfloat16")
TOLERANCE = 1e-3


def train(t, smape_of):
    smapes = []
    for x, y in t.batches:
        with t.autocast():
            prediction = torch.relu(t.model(x)).float()
        target = torch.nn.functional.one_hot(y, 4).float()
        prediction.retain_grad()  # the ReLU would hide a NaN of it from the weights
        smape = smape_of(prediction, target)
        t.optimizer.zero_grad()
        smape.backward()
        t.optimizer.step()
        smapes.append([smape, prediction.grad])
    return [smapes, t.model.state_dict()]


def place(t):
    def smape_of(prediction, target):
        paste
        return smape

    return train(t, smape_of)


def reference(t):
    def smape_of(prediction, target):
        pairs = list(zip(prediction.flatten(), target.flatten()))
        parts = [2 * (p - y).abs() / (p.abs() + y.abs()) for p, y in pairs if p != 0 or y != 0]
        return sum(parts) / len(pairs)

    return train(t, smape_of)
