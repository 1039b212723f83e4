import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(4, 8, bidirectional=True, batch_first=True)
        self.gru = nn.GRU(4, 8, num_layers=2)
        self.one = nn.GRU(4, 8)

    def forward(self, x):
        output, (h, c) = self.lstm(x)
        return h.view(x.size(0), -1)  # finds hidden_state_is_viewed_by_sample

    def states(self, x):
        _, h = self.gru(x)
        return h.reshape(len(x), -1)  # finds hidden_state_is_viewed_by_sample

    def last(self, x):
        _, h = self.one(x)
        first = h.view(len(x), -1)
        _, (hidden, _) = self.lstm(x)
        return first, torch.cat([hidden[-2], hidden[-1]], 1), x.view(len(x), -1)

    def in_two_lines(self, x):
        output, (h, c) = self.lstm(x)
        h = h.transpose(0, 1)
        _, state = self.gru(x)
        state = torch.cat([state[-2], state[-1]], 1)
        return h.reshape(len(x), -1), state.view(len(x), -1)

    def again(self, x):
        h = x.new_zeros(4, len(x), 8)
        _, (h, c) = self.lstm(x, (h, h))
        return h.view(len(x), -1)  # finds hidden_state_is_viewed_by_sample
