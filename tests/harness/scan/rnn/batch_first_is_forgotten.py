import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.lstm = nn.LSTM(size, 8, num_layers=2)  # finds batch_first_is_forgotten
        self.gru = nn.GRU(size, 8)  # finds batch_first_is_forgotten
        self.rnn = nn.RNN(size, 8)  # finds batch_first_is_forgotten
        self.after_conv = nn.LSTM(size, 8)  # finds batch_first_is_forgotten
        self.head = nn.Linear(8, 2)
        self.dropout = nn.Dropout(0.1)

    def forward(self, x):
        output, _ = self.lstm(x)
        output = self.dropout(output)
        return self.head(output[:, -1, :])

    def convolves(self, x):
        x = self.conv(x)
        output, _ = self.after_conv(x.permute(0, 2, 1))
        return self.head(output)

    def mean(self, x):
        output = self.gru(x)[0]
        return self.head(output.mean(dim=1))

    def states(self, x):
        batch_size = x.size(0)
        output, h = self.rnn(x)
        return h.view(batch_size, 8)


class Right(nn.Module):
    def __init__(self, size, options):
        super().__init__()
        self.embedding = nn.Embedding(9, size)
        self.lstm = nn.LSTM(size, 8, 1, True, True)
        self.gru = nn.GRU(size, 8)
        self.rnn = nn.RNN(size, 8, **options)

    def forward(self, ids):
        x = self.embedding(ids)
        output, _ = self.lstm(x)
        other, _ = self.rnn(x)
        return output[:, -1], other[:, -1]

    def time_first(self, x):
        batch, time, features = x.shape
        x = x.transpose(0, 1)  # [time, batch, features]
        output, _ = self.gru(x)
        output, _ = self.gru(self.conv(x.permute(1, 2, 0)).permute(2, 0, 1))
        last = output[-1]
        output = output.transpose(0, 1)
        return output[:, -1], last, output.mean(1)

    def backward_half(self, x):
        output, _ = self.gru(x)
        return output[:, :, -1], output.mean(0), output[:, 1:].mean(1)


def words(x):
    gru = torch.nn.GRU(4, 8)  # finds batch_first_is_forgotten
    output, h = gru(x)  # x: (batch_size, seq_len, features)
    return output, h
