"""A transformer layer, compared with its attention written out for every head."""

import torch

SETTINGS = ("plain", "short last batch")


def place(t):
    paste
    layer.eval()
    x = torch.linspace(-1, 1, 60).reshape(3, 2, 10).sin()
    return layer(x), dict(layer.named_parameters())


def reference(t):
    layer = torch.nn.TransformerEncoderLayer(d_model=10, nhead=1)
    layer.eval()
    x = torch.linspace(-1, 1, 60).reshape(3, 2, 10).sin()
    projected = x @ layer.self_attn.in_proj_weight.T + layer.self_attn.in_proj_bias
    q, k, v = projected.unflatten(-1, (3, 5, 2)).permute(2, 1, 3, 0, 4)
    heads = (q @ k.mT / 2**0.5).softmax(-1) @ v
    y = layer.norm1(x + layer.self_attn.out_proj(heads.permute(2, 0, 1, 3).flatten(2)))
    return layer.norm2(y + layer.linear2(layer.linear1(y).relu())), dict(layer.named_parameters())
