"""An encoder with BatchNorm and Dropout that is trained with its head, compared with one model."""

import torch

SETTINGS = ("plain", "AdamW", "frozen norm", "dropout")


def start(t):
    x = torch.cat([x for x, _ in t.batches])
    y = torch.cat([y for _, y in t.batches])
    return t.model.double(), t.optimizer, x.double(), y


def place(t):
    model, optimizer, x, y = start(t)
    criterion, epochs = t.loss, 5

    def encoder(x):
        return model.dropout(torch.relu(model.norm(model.body(x))))

    def head(features):
        return model.head(features) + model.tail(features)

    paste
    return model.state_dict()


def reference(t):
    model, optimizer, x, y = start(t)
    for _ in range(5):
        loss = t.loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model.state_dict()
