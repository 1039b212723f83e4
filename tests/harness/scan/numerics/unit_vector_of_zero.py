import numpy as np
import torch


def embeds(model, images):
    features = model(images)
    features = features / features.norm(dim=-1, keepdim=True)  # finds unit_vector_of_zero
    texts = model(images)
    texts /= torch.linalg.vector_norm(texts, dim=-1, keepdim=True)  # finds unit_vector_of_zero
    return features @ texts.T


def guards(x):
    x = x / x.norm(dim=-1, keepdim=True).clamp(min=1e-8)
    y = x / (x.norm(dim=-1, keepdim=True) + 1e-8)
    return x / np.linalg.norm(x, keepdims=True), y


def makes_its_own_vectors(rows):
    bank = torch.rand(rows, 8)
    bank = bank / bank.norm(dim=1, keepdim=True)
    known = torch.tensor([[3.0, 4.0]]).double().requires_grad_(True)
    return bank @ (known / torch.norm(known, dim=1, keepdim=True)).T


def takes_them(rows):
    known, none = torch.tensor(rows), torch.nn.Parameter(torch.zeros(2, 8))
    known = known / known.norm(dim=1, keepdim=True)  # finds unit_vector_of_zero
    return known @ (none / none.norm(dim=1, keepdim=True)).T  # finds unit_vector_of_zero


class Prototypes(torch.nn.Module):
    def __init__(self, rows):
        super().__init__()
        self.prototypes = torch.nn.Parameter(torch.randn(rows, 8))

    def forward(self, x):
        x = x / x.norm(dim=1, keepdim=True)  # finds unit_vector_of_zero
        return x @ (self.prototypes / self.prototypes.norm(dim=1, keepdim=True)).T
