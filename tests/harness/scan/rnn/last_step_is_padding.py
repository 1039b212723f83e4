import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self, size, vectors=None):
        super().__init__()
        if vectors is not None:
            self.embedding = nn.Embedding.from_pretrained(vectors, freeze=False)
        else:
            self.embedding = nn.Embedding(size, 4, padding_idx=0)
        self.letters = nn.Embedding(26, 4)
        self.tags = nn.Embedding(26, 4, padding_idx=None)
        self.lstm = nn.LSTM(4, 8, batch_first=True)
        self.gru = nn.GRU(4, 8)
        self.dropout = nn.Dropout(0.1)
        self.head = nn.Linear(8, 2)

    def forward(self, ids):
        x = self.dropout(self.embedding(ids))
        output, _ = self.lstm(x)
        return self.head(output[:, -1, :])  # finds last_step_is_padding

    def final_state(self, ids):
        _, (h, c) = self.lstm(self.embedding(ids))
        return self.head(h[-1])  # finds last_step_is_padding

    def time_first(self, ids):
        x = self.embedding(ids)
        output, _ = self.gru(x)
        return self.head(output[-1])  # finds last_step_is_padding

    def without_padding(self, ids):
        x = self.letters(ids)
        output, _ = self.lstm(x)
        tags, h = self.gru(self.tags(ids))
        return output[:, -1], tags[-1], h[-1]

    def real_ends(self, ids, lengths):
        x = self.embedding(ids)
        output, _ = self.lstm(x)
        last = torch.stack([row[length - 1] for row, length in zip(output, lengths)])
        return last, output[:, -1]

    def other_steps(self, ids):
        x = self.embedding(ids)
        output, (h, c) = self.lstm(x)
        return output[:, 0], output, h[:, -1]
