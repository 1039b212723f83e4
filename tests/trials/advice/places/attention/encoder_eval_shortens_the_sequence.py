"""Evaluation over padded batches, compared with each sequence without its padding."""

import torch

SETTINGS = ("plain", "dropout")


def start(t):
    t.model = torch.nn.TransformerEncoderLayer(
        8, 2, 16, dropout=t.setting.dropout, batch_first=True
    )
    lengths = [[3, 2], [5, 1], [4, 4]]
    return t.model, [(torch.randn(2, 5, 8), torch.tensor(two)) for two in lengths]


def place(t):
    (layer, batches), num_layers, outputs = start(t), 2, []
    for x, lengths in batches:
        padding = torch.arange(5) >= lengths[:, None]
        paste
        outputs += [list(y.shape), y[~padding], y.requires_grad, encoder.training]
    layer.eval()
    return outputs


def reference(t):
    (layer, batches), outputs = start(t), []
    layer.eval()
    for x, lengths in batches:
        alone = [
            layer(layer(s[None, :n])) for s, n in zip(x, lengths)
        ]  # with gradients: no fast path
        outputs += [[2, 5, 8], torch.cat([s[0] for s in alone]), False, False]
    return outputs
