from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence


class Classifier(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.embedding = nn.Embedding(size, 4, padding_idx=0)
        self.lstm = nn.LSTM(4, 8, batch_first=True)

    def forward(self, ids):
        x = self.embedding(ids)
        counts = (ids != 0).sum(1).cpu()
        x = pack_padded_sequence(x, counts, batch_first=True, enforce_sorted=False)
        _, (h, c) = self.lstm(x)
        return h[-1]
