"""Evaluation with ALiBi of a model that is trained or frozen, against attention written out."""

import torch

SETTINGS = ("plain", "dropout")


def start(t):
    t.model = torch.nn.TransformerEncoderLayer(
        8, 2, 16, dropout=t.setting.dropout, batch_first=True
    )
    if t.setting.dropout:
        t.model.requires_grad_(False)
    return t.model, [torch.randn(2, n, 8) for n in (4, 3)]


def bias(x):
    position = torch.arange(float(x.shape[1]))
    return -(position[:, None] - position).abs()


def place(t):
    (layer, batches), outputs = start(t), []
    for x in batches:
        alibi = bias(x)
        with torch.no_grad():  # as the loop of a validation is
            paste
        outputs += [y, y.requires_grad, x.requires_grad]
    return outputs


def reference(t):
    (layer, batches), outputs = start(t), []
    layer.eval()
    for x in batches:
        with torch.no_grad():
            projected = x @ layer.self_attn.in_proj_weight.T + layer.self_attn.in_proj_bias
            q, k, v = projected.unflatten(-1, (3, 2, 4)).permute(2, 0, 3, 1, 4)
            heads = (q @ k.mT / 2 + bias(x)).softmax(-1) @ v
            y = layer.norm1(x + layer.self_attn.out_proj(heads.transpose(1, 2).flatten(2)))
            outputs += [layer.norm2(y + layer.linear2(layer.linear1(y).relu())), False, False]
    return outputs
