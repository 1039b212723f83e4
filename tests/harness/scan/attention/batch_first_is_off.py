import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.embedding = nn.Embedding(9, size)
        layer = nn.TransformerEncoderLayer(size, 4)  # finds batch_first_is_off
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.attention = nn.MultiheadAttention(size, 4)  # finds batch_first_is_off
        self.cross = nn.MultiheadAttention(size, 4)  # finds batch_first_is_off
        self.pooled = nn.TransformerEncoderLayer(size, 4)  # finds batch_first_is_off
        self.images = nn.MultiheadAttention(size, 4)  # finds batch_first_is_off
        self.patches = nn.MultiheadAttention(size, 4)  # finds batch_first_is_off
        self.head = nn.Linear(size, 2)

    def forward(self, ids):
        x = self.encoder(self.embedding(ids))
        return self.head(x[:, 0])

    def sized(self, x):
        batch, tokens, features = x.shape
        x, _ = self.attention(x, x, x)
        return self.head(x)

    def commented(self, query, memory):
        output = self.cross(query, memory, memory)[0]  # [B, T, D]
        return self.head(output)

    def flattened(self, x):
        x = x.flatten(2).transpose(1, 2).contiguous()
        return self.head(x + self.images(x, x, x)[0])

    def patched(self, x):
        patches = x.view(x.size(0), 4, -1)
        y, _ = self.patches(patches, patches, patches)
        return self.head(y.flatten(1))

    def mean(self, x):
        x = self.pooled(x)
        return self.head(x.mean(dim=1))


class Right(nn.Module):
    def __init__(self, size, options):
        super().__init__()
        self.attention = nn.MultiheadAttention(size, 4, batch_first=True)
        self.time_first = nn.MultiheadAttention(size, 4)
        layer = nn.TransformerEncoderLayer(size, 4, 8, 0.1, "relu", 1e-5, True)
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.unknown = nn.TransformerEncoderLayer(size, 4, **options)
        self.decoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(size, 4), 2)

    def forward(self, x):
        batch, tokens, features = x.shape
        y, _ = self.attention(x, x, x)
        x = x.transpose(0, 1)
        y, weights = self.time_first(x, x, x)
        y = y.transpose(0, 1)
        z = self.encoder(x)
        u = self.unknown(x)
        return y[:, 0], z[:, 0], u[:, 0], weights[:, 0]

    def decode(self, x):
        batch_size = x.size(0)
        y = self.decoder(x.permute(1, 0, 2)).permute(1, 0, 2)
        z = self.decoder(x.permute(1, 0, 2))
        z = z.permute(1, 0, 2)
        z = z.permute(0, 2, 1)
        u, _ = self.time_first(*[x.view(x.size(0), 1, -1)] * 3)
        v, _ = self.time_first(x.view(4, batch_size, -1), x, x)
        return y[:, 0], z.mean(1), batch_size


def mixes(x, dim):
    attention = torch.nn.MultiheadAttention(dim, 2)
    y = attention(x, x, x)  # weights: [batch, tokens, tokens]
    return y[0], y[1]
