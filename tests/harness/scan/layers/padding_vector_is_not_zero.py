import torch
from torch import nn
from torch.nn import init


class Tagger(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.words = nn.Embedding(size, 3, padding_idx=0)
        self.tags = nn.Embedding(9, 3, padding_idx=0)
        self.chars = nn.Embedding(99, 3)
        self.types = nn.Embedding(9, 3, padding_idx=None)
        self.init_weights()

    def init_weights(self):
        init.xavier_uniform_(self.words.weight)  # finds padding_vector_is_not_zero
        self.tags.weight.data.uniform_(-0.1, 0.1)  # finds padding_vector_is_not_zero
        nn.init.normal_(self.chars.weight)
        nn.init.normal_(self.types.weight)


class Right(nn.Module):
    def __init__(self, size, vectors):
        super().__init__()
        self.words = nn.Embedding(size, 3, padding_idx=0)
        nn.init.normal_(self.words.weight, std=size**-0.5)
        nn.init.constant_(self.words.weight[0], 0)
        self.others = nn.Embedding(size, 3, 0)
        self.others.weight.data.copy_(vectors)
        self.head = nn.Linear(3, size)
        nn.init.normal_(self.head.weight)

    def reset(self):
        self.others.weight.data.normal_()
        self.others.weight.data[0].zero_()


def build(size):
    words = nn.Embedding(size, 3, 0)
    with torch.no_grad():
        words.weight.normal_()  # finds padding_vector_is_not_zero
    tags = nn.Embedding(9, 3, 0)
    tags.weight.data.normal_()
    tags.weight.data[0] = 0
    return words, tags


def fills_before(size):
    words = nn.Embedding(size, 3)
    nn.init.normal_(words.weight)
    words = nn.Embedding(size, 3, padding_idx=0)
    return words


class Encoder(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.words = nn.Embedding(size, 3, padding_idx=0)
        for p in self.parameters():
            if p.dim() > 1:
                nn.init.xavier_uniform_(p)  # finds padding_vector_is_not_zero


class Decoder(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.words = nn.Embedding(size, 3, padding_idx=0)
        self.head = nn.Linear(3, size)
        for p in self.head.parameters():
            nn.init.normal_(p)
        for name, p in self.named_parameters():
            if "head" in name:
                nn.init.normal_(p)


class Chunker(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(9, 4, padding_idx=0)
        self.out = nn.Linear(4, 2)


def fills(scale):
    model = Chunker()
    for p in model.parameters():
        if p.dim() > 1:
            nn.init.xavier_uniform_(p)  # finds padding_vector_is_not_zero
    for name, p in model.named_parameters():
        if "out" in name:
            nn.init.normal_(p, 0, scale)
    other = nn.Linear(3, 3)
    for p in other.parameters():
        nn.init.uniform_(p)
