# ruff: noqa
import pytest
import torch.nn as nn
from torch.nn import MultiheadAttention
from .layers import TransformerEncoderLayer


WIDTH = 100


HEADS = 8


def build(width):
    nn.TransformerEncoderLayer(10, 4)  # finds heads_do_not_divide_embed_dim
    MultiheadAttention(WIDTH, HEADS)  # finds heads_do_not_divide_embed_dim
    nn.Transformer(d_model=300)  # finds heads_do_not_divide_embed_dim
    nn.TransformerDecoderLayer(nhead=6, d_model=128)  # finds heads_do_not_divide_embed_dim
    nn.TransformerDecoderLayer(128, HEADS)
    nn.TransformerEncoderLayer(width, 4)
    nn.Transformer(nhead=4)
    TransformerEncoderLayer(10, 4)
    with pytest.raises(AssertionError):
        MultiheadAttention(10, 4)


def one_of_two_sizes(name):
    width = 768
    heads = 16
    if name != "bert":
        width = 300
        heads = 6
    return nn.TransformerEncoderLayer(width, heads)
