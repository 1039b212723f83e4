import torch
from mine import Adam as MyAdam
from torch import optim


def builds(model):
    return (
        torch.optim.Adam(model.parameters(), weight_decay=1e-4),  # finds adam_forgets_weight_decay
        optim.Adam(model.parameters(), lr=0.1, weight_decay=0.01),  # finds adam_forgets_weight_decay
        optim.Adam(model.parameters(), lr=0.1, weight_decay=0.0),
        optim.AdamW(model.parameters(), weight_decay=0.01),
        MyAdam(model.parameters(), weight_decay=0.01),
        optim.SGD(model.parameters(), lr=0.1, weight_decay=0.01),
    )
