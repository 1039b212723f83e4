"""A backbone with BatchNorm and a head that train together, against the forward of one model."""

import torch

SETTINGS = ("plain", "AdamW", "tied", "frozen norm", "dropout", "bfloat16")


def train(t, forward):
    losses = []
    for x, y in t.batches * 2:
        t.optimizer.zero_grad()
        with t.autocast():
            output = forward(x)
        loss = t.loss(output.float(), y)
        loss.backward()
        t.optimizer.step()
        losses.append(loss.detach())
    return [losses, t.model.state_dict()]


def place(t):
    model = t.model

    def backbone(x):
        return model.dropout(torch.relu(model.norm(model.body(x))))

    def head(features):
        return model.head(features) + model.tail(features)

    def forward(x):
        paste
        return output

    return train(t, forward)


def reference(t):
    return train(t, t.model)
