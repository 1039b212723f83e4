from torch import nn


class Tagger(nn.Module):
    def __init__(self, vectors):
        super().__init__()
        self.embedding = nn.Embedding.from_pretrained(vectors)  # static GloVe
        self.others = nn.Embedding.from_pretrained(vectors, freeze=False)
