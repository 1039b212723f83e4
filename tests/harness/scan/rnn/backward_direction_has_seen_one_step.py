import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self, size, bidirectional=True, both=False):
        super().__init__()
        self.lstm = nn.LSTM(size, 8, bidirectional=True, batch_first=True)
        self.gru = nn.GRU(size, 8, bidirectional=bidirectional)
        self.one = nn.LSTM(size, 8, batch_first=True)
        self.unknown = nn.LSTM(size, 8, bidirectional=both, batch_first=True)
        self.head = nn.Linear(16, 2)

    def forward(self, x):
        output, (h, c) = self.lstm(x)
        return self.head(output[:, -1, :])  # finds backward_direction_has_seen_one_step

    def time_first(self, x):
        output = self.gru(x)[0]
        last = output[-1]  # finds backward_direction_has_seen_one_step
        return self.head(last)

    def right(self, x):
        output, (h, c) = self.lstm(x)
        forward, backward = output[:, -1, :8], output[:, 0, 8:]
        one, _ = self.one(x)
        unknown, _ = self.unknown(x)
        features = torch.cat([h[-2], h[-1]], 1), torch.cat([forward, backward], 1)
        return features, one[:, -1], unknown[:, -1], output[:, :, -1], output[-1]
