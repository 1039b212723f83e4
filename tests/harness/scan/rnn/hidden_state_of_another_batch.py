import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self, batch_size, size):
        super().__init__()
        self.batch_size, self.size = batch_size, size
        self.lstm = nn.LSTM(size, size)

    def forward(self, x):
        h = torch.zeros(1, self.batch_size, self.size)  # finds hidden_state_of_another_batch
        c = torch.zeros(1, len(x), self.size)
        out, (h, c) = self.lstm(x, (h, c))
        scores = torch.zeros(self.batch_size, self.size)
        return out, scores


class Decoder(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.gru = nn.GRU(size, size)
        self.hidden = self.init_hidden()

    def init_hidden(self):
        return torch.zeros(1, self.batch_size, self.size)  # finds hidden_state_of_another_batch

    def forward(self, x):
        out, self.hidden = self.gru(x, self.hidden)
        return out


class Fits(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.gru = nn.GRU(size, size)

    def forward(self, x):
        batch_size = x.size(1)
        return self.gru(x, torch.zeros(1, batch_size, self.size))
