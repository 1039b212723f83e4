"""A classifier of sequences with three lengths, against each sequence alone without padding."""

import torch

SETTINGS = ("plain", "AdamW", "bfloat16", "short last batch")
TOLERANCE = 3e-2


class Classifier(torch.nn.Module):
    def __init__(self, alone):
        super().__init__()
        self.alone = alone
        self.lstm = torch.nn.LSTM(2, 3, batch_first=True)
        self.head = torch.nn.Linear(3, 4)

    def forward(self, x):
        x = 3 * x.view(-1, 3, 2)
        sequences = [sample[: row % 3 + 1] for row, sample in enumerate(x)]
        if self.alone:
            states = [self.lstm(sequence[None])[1][0][0, 0] for sequence in sequences]
            return self.head(torch.stack(states))
        return self.head(summary(self.lstm, sequences))


def summary(lstm, sequences):
    paste
    return features


def train(t, alone):
    torch.manual_seed(0)
    t.model = t.watched(Classifier(alone))
    t.groups = [
        {"params": list(t.model.lstm.parameters()), "lr": 0.3},
        {"params": list(t.model.head.parameters()), "lr": 0.2},
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
