import math

from torch import nn


class Classifier(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.embedding = nn.Embedding(99, size, padding_idx=0)
        self.letters = nn.Embedding(26, size)
        self.positions = nn.Embedding(512, size)
        layer = nn.TransformerEncoderLayer(size, 4, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.attention = nn.MultiheadAttention(size, 4, batch_first=True)
        self.old_attention = nn.MultiheadAttention(size, 4)
        self.head = nn.Linear(size, 2)

    def forward(self, ids, places):
        x = self.embedding(ids) * math.sqrt(8)
        x = x + self.positions(places)
        x = self.encoder(x)  # finds padding_is_not_masked
        return self.head(x[:, 0])

    def attend(self, ids):
        x = self.embedding(ids).transpose(0, 1)
        x, weights = self.old_attention(x, x, x)  # finds padding_is_not_masked
        return self.head(x[0])

    def masked(self, ids):
        x = self.embedding(ids)
        padding = ids == 0
        x = self.encoder(x, src_key_padding_mask=padding)
        x, _ = self.attention(x, x, x, key_padding_mask=padding)
        return self.head(x[:, 0])

    def causal(self, ids):
        x = self.embedding(ids)
        causal_mask = nn.Transformer.generate_square_subsequent_mask(ids.shape[1])
        return self.head(self.encoder(x, causal_mask))

    def without_padding(self, ids):
        return self.head(self.encoder(self.letters(ids))[:, 0])

    def with_options(self, ids, options):
        return self.head(self.encoder(self.embedding(ids), **options)[:, 0])

    def with_lengths(self, ids, lengths):
        rows = self.embedding(ids)
        return [self.encoder(row[None, :n]) for row, n in zip(rows, lengths)]


class OverStates(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.words = nn.Embedding(size, 8)
        self.lstm = nn.LSTM(8, 8, batch_first=True)
        self.score = nn.Linear(8, 1)

    def attend(self, states):
        weights = torch.softmax(self.score(states).squeeze(-1), 1)  # finds padding_is_not_masked
        return torch.bmm(states.transpose(1, 2), weights.unsqueeze(2)).squeeze(2)

    def forward(self, ids):
        states, _ = self.lstm(self.words(ids))
        return torch.softmax(self.attend(states), 1)


class OverRealStates(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.words = nn.Embedding(size, 8)
        self.lstm = nn.LSTM(8, 8, batch_first=True)
        self.score = nn.Linear(8, 1)

    def forward(self, ids):
        states, _ = self.lstm(self.words(ids))
        scores = self.score(states).squeeze(-1).masked_fill(ids == 0, -1e9)
        weights = torch.softmax(scores, 1)
        return torch.bmm(states.transpose(1, 2), weights.unsqueeze(2)).squeeze(2)
