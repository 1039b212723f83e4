"""A language model of encoder layers is evaluated, against each token computed from those before it."""

import torch

REQUIRES = ">=2.0"
SETTINGS = ("plain", "dropout", "bfloat16", "short last batch")


def start(t):
    t.model = torch.nn.TransformerEncoderLayer(
        8, 2, 16, dropout=t.setting.dropout, batch_first=True
    )
    t.model.to(t.setting.dtype)
    return t.model, [torch.randn(2, n, 8).to(t.setting.dtype) for n in (4, 1, 7)]


def place(t):
    layer, batches = start(t)
    outputs = []
    for x in batches:
        paste
        outputs.append(y.float())
    return outputs


def reference(t):
    layer, batches = start(t)
    layer.eval()
    outputs = []
    for x in batches:
        seen = [
            layer(x[:, : n + 1])[:, n] for n in range(x.shape[1])
        ]  # with gradients: no fast path
        outputs.append(torch.stack(seen, 1).float())
    return outputs


def same(seen, expected):
    for one, other in zip(seen, expected):
        if not torch.allclose(one, other, atol=0.05 if one.bfloat16().equal(one) else 1e-4):
            return f"the output is off by {(one - other).abs().max():.3g}"
