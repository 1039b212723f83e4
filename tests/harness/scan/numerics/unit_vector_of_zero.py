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
