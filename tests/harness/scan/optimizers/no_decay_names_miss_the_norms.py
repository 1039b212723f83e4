import torch.nn as nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(8)


def groups(model):
    no_decay = ["bias", "LayerNorm.weight"]  # finds no_decay_names_miss_the_norms
    first = [p for n, p in model.named_parameters() if not any(x in n for x in no_decay)]
    skipped = ["LayerNorm.bias", "LayerNorm.weight", "bias"]  # finds no_decay_names_miss_the_norms
    return first, skipped, ["bias", "LayerNorm.weight", "norm"]
