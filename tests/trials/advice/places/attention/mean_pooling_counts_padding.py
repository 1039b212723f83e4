"""A classifier of texts with one to six tokens, against the mean of each text without padding."""

import torch

SETTINGS = ("plain", "AdamW", "bfloat16", "short last batch")
TOLERANCE = 3e-2


class Classifier(torch.nn.Module):
    def __init__(self, alone):
        super().__init__()
        self.alone = alone
        self.table = torch.nn.Embedding(9, 6)
        self.mix = torch.nn.Linear(6, 6)
        self.head = torch.nn.Linear(6, 4)

    def encoder(self, ids, mask):
        return self.mix(self.table(ids).tanh())

    def forward(self, x):
        ids = (4 * x.abs()).long().clamp(max=7) + 1
        lengths = torch.arange(len(x)) * 2 % 6 + 1
        mask = (torch.arange(6) < lengths[:, None]).long()
        if self.alone:
            texts = [text[:length] for text, length in zip(ids, lengths)]
            return self.head(torch.stack([self.encoder(t, None).mean(0) for t in texts]))
        return self.head(pooled(self.encoder, ids * mask, mask))


def pooled(encoder, ids, mask):
    paste
    return embedding


def train(t, alone):
    torch.manual_seed(0)
    t.model = t.watched(Classifier(alone))
    t.groups = [
        {"params": list(t.model.table.parameters()), "lr": 0.3},
        {"params": [*t.model.mix.parameters(), *t.model.head.parameters()], "lr": 0.2},
    ]
    outputs = []
    for x, y in t.batches:
        t.optimizer.zero_grad()
        with t.autocast():
            output = t.model(x)
        t.loss(output.float(), y).backward()
        t.optimizer.step()
        outputs.append(output.float())
    return [outputs, t.model.state_dict()]


def place(t):
    return train(t, alone=False)


def reference(t):
    return train(t, alone=True)
