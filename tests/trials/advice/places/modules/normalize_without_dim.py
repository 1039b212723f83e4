"""A matching of tokens by their cosines, against a division of each vector by its length."""

import torch

SETTINGS = ("plain", "AdamW", "bfloat16", "accumulation", "short last batch")
TOLERANCE = 1e-2


def train(t, scale):
    torch.manual_seed(0)
    t.model = t.watched(torch.nn.ModuleList([torch.nn.Linear(2, 4), torch.nn.Linear(4, 4)]))
    t.groups = [{"params": list(part.parameters()), "lr": 0.02} for part in t.model]
    losses = []
    for number, (x, y) in enumerate(t.batches, 1):
        with t.autocast():
            x = t.model[0](x.view(-1, 3, 2))
        x = scale(x.float())
        cosines = (x[:, :1] * x).sum(2, keepdim=True)
        loss = t.loss(t.model[1]((cosines * x).sum(1)), y)
        loss.backward()
        if number % t.setting.window == 0:
            t.optimizer.step()
            t.optimizer.zero_grad()
        losses.append(loss.detach().clone())
    return [losses, t.model.state_dict()]


def place(t):
    def scale(x):
        paste
        return x

    return train(t, scale)


def reference(t):
    return train(t, lambda x: x / (x * x).sum(2, keepdim=True).sqrt())
