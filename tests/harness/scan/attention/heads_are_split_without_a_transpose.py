import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, dim, heads, slots):
        super().__init__()
        self.heads, self.slots, self.head_dim = heads, slots, dim // heads
        self.query = nn.Linear(dim, dim)
        self.key = nn.Linear(dim, dim)
        self.value = nn.Linear(dim, dim)
        self.memory = nn.Linear(dim, dim * slots)
        self.conv = nn.Conv1d(dim, dim, 1)

    def forward(self, x):
        batch, tokens, dim = x.shape
        q = self.query(x)
        q = q.view(batch, self.heads, tokens, self.head_dim)  # finds heads_are_split_without_a_transpose
        k = self.key(x).reshape(batch, self.heads, -1, self.head_dim)  # finds heads_are_split_without_a_transpose
        v = self.value(x)
        v = v.view(batch * self.heads, -1, self.head_dim)  # finds heads_are_split_without_a_transpose
        return q @ k.transpose(-2, -1), v

    def right(self, x):
        batch, tokens, dim = x.shape
        q = self.query(x).view(batch, tokens, self.heads, self.head_dim).transpose(1, 2)
        k = self.key(x).view(tokens, batch * self.heads, self.head_dim).transpose(0, 1)
        v = self.conv(x.transpose(1, 2)).view(batch, self.heads, self.head_dim, tokens)
        scores = q.reshape(batch * self.heads, tokens, self.head_dim)
        return k, v, scores.view(batch, self.heads, tokens, -1)

    def of_one_vector(self, x):
        q = self.query(x).view(len(x), self.heads, 1, self.head_dim)
        return q, self.memory(x).view(len(x), self.heads, self.slots, self.head_dim)

    def of_nodes(self, nodes):
        return self.query(nodes).view(-1, self.heads, self.head_dim), torch.ones(3)
