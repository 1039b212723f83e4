import torch
from torch import nn
from transformers import AutoModel


class Tagger(nn.Module):
    def __init__(self, size, vectors=None):
        super().__init__()
        self.embedding = nn.Embedding(size, 3)
        if vectors is not None:
            self.embedding.from_pretrained(vectors)  # finds from_pretrained_result_is_dropped
        self.others = nn.Embedding.from_pretrained(vectors, freeze=False)
        self.bag = nn.EmbeddingBag(size, 3)
        self.bag = self.bag.from_pretrained(vectors, freeze=False)
        self.encoder = AutoModel.from_pretrained("bert-base-uncased")


def load(vectors, model):
    words = nn.Embedding(*vectors.shape)
    words.from_pretrained(  # finds from_pretrained_result_is_dropped
        torch.tensor(vectors), freeze=False
    )
    model.from_pretrained("weights")
    words.weight.data.copy_(vectors)
    return words.from_pretrained(vectors, freeze=False)
