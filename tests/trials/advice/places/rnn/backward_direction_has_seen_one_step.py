"""A classifier of the final states, against a forward LSTM and an LSTM of the flipped input."""

import torch

SETTINGS = ("plain", "AdamW", "short last batch")


class Classifier(torch.nn.Module):
    def __init__(self, apart):
        super().__init__()
        self.apart = apart
        self.lstm = torch.nn.LSTM(2, 3, bidirectional=True, batch_first=True)
        self.head = torch.nn.Linear(6, 4)

    def one_way(self, x, suffix):
        w = dict(self.lstm.named_parameters())
        h = c = x.new_zeros(len(x), 3)
        for step in x.unbind(1):
            gates = step @ w["weight_ih_l0" + suffix].T + w["bias_ih_l0" + suffix]
            gates = gates + h @ w["weight_hh_l0" + suffix].T + w["bias_hh_l0" + suffix]
            i, f, g, o = gates.chunk(4, 1)
            c = f.sigmoid() * c + i.sigmoid() * g.tanh()
            h = o.sigmoid() * c.tanh()
        return h

    def forward(self, x):
        x = x.view(-1, 3, 2)
        if self.apart:
            ways = [self.one_way(x, ""), self.one_way(x.flip(1), "_reverse")]
            return self.head(torch.cat(ways, 1))
        return self.head(summary(self.lstm, x))


def summary(lstm, x):
    paste
    return features


def train(t, apart):
    torch.manual_seed(0)
    t.model = t.watched(Classifier(apart))
    t.groups = [
        {"params": list(t.model.lstm.parameters()), "lr": 0.1},
        {"params": list(t.model.head.parameters()), "lr": 0.05},
    ]
    for x, y in t.batches:
        t.optimizer.zero_grad()
        t.loss(t.model(x), y).backward()
        t.optimizer.step()
    return t.model.state_dict()


def place(t):
    return train(t, apart=False)


def reference(t):
    return train(t, apart=True)
