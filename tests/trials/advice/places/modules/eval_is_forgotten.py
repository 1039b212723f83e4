"""A model with dropout and BatchNorm that was trained and then predicts, one sample too."""

import torch

SETTINGS = ("plain", "dropout", "frozen norm", "tied")


def trained(t):
    for x, y in t.batches:
        t.optimizer.zero_grad()
        t.loss(t.model(x), y).backward()
        t.optimizer.step()
    return t.model


def place(t):
    model, outputs = trained(t), []
    for x in (t.batches[0][0], t.batches[1][0][:1]):
        paste
        outputs += [first, second]
    return [outputs, model.state_dict()]


def reference(t):
    model, outputs = trained(t), []
    model.eval()
    for x in (t.batches[0][0], t.batches[1][0][:1]):
        hidden = (model.body(x) - model.norm.running_mean) / (model.norm.running_var + 1e-5).sqrt()
        hidden = torch.relu(hidden * model.norm.weight + model.norm.bias)
        outputs += [model.head(hidden) + model.tail(hidden)] * 2
    return [outputs, model.state_dict()]
