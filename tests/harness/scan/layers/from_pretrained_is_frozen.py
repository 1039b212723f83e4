import torch
from torch import nn
from transformers import AutoModel


class Tagger(nn.Module):
    def __init__(self, size, vectors=None):
        super().__init__()
        if vectors is None:
            self.embedding = nn.Embedding(size, 3)
        else:
            self.embedding = nn.Embedding.from_pretrained(vectors)  # finds from_pretrained_is_frozen
        self.encoder = AutoModel.from_pretrained("bert-base-uncased")


def load(glove):
    bag = nn.EmbeddingBag.from_pretrained(  # finds from_pretrained_is_frozen
        torch.from_numpy(glove.vectors), mode="sum"
    )
    position_encoding = nn.Embedding.from_pretrained(glove.table)
    return bag, position_encoding


def positions(length, width):
    angles = torch.arange(length)[:, None] / 10000 ** (torch.arange(width) / width)
    return nn.Embedding.from_pretrained(torch.cat([angles.sin(), angles.cos()], 1))


def test_load(vectors):
    return nn.Embedding.from_pretrained(vectors)
