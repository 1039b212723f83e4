import torch.nn.functional as F
from torch import nn


class Inception(nn.Module):
    def __init__(self, dropout_keep_prob=0.8):
        super().__init__()
        self.dropout = nn.Dropout(dropout_keep_prob)  # finds dropout_gets_the_probability_to_keep
        self.right = nn.Dropout(1 - dropout_keep_prob)
        self.rate = 1 - dropout_keep_prob
        self.other = nn.Dropout(self.rate)
        self.keep_prob = dropout_keep_prob

    def forward(self, x):
        x = F.dropout(  # finds dropout_gets_the_probability_to_keep
            x, self.keep_prob, training=self.training
        )
        return F.dropout(x, p=1 - self.keep_prob, training=self.training)


def badly_named(x, keep_prob=0.1):
    return F.dropout(x, keep_prob)


def unknown(x, keep_prob, config):
    return F.dropout(F.dropout(x, keep_prob), config.keep_prob)


def one_half(config):
    keep_prob = 0.5
    keep_rate = 1 - config.keep_rate
    return nn.Dropout(keep_prob), nn.Dropout(keep_rate), nn.Dropout(config.dropout)
