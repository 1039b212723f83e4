"""Activations are taken to numpy by a hook in evaluation, against the layers called one by one."""

import torch

SETTINGS = ("plain", "dropout", "short last batch")


def start(t):
    t.model = torch.nn.TransformerEncoderLayer(
        6, 2, 16, dropout=t.setting.dropout, batch_first=True
    )
    return t.model, [x[:, None].repeat(1, 3, 1) for x, _ in t.batches]


def place(t):
    (layer, batches), seen, outputs = start(t), [], []

    def hook(module, args, output):
        seen.append(torch.from_numpy(output.numpy().copy()))

    for x in batches:
        layer.linear1._forward_hooks.clear()
        paste
        outputs += [y, y.requires_grad]
    return seen, outputs


def reference(t):
    (layer, batches), seen, outputs = start(t), [], []
    layer.eval()
    for x in batches:
        attended = layer.norm1(x + layer.self_attn(x, x, x)[0])
        seen.append(layer.linear1(attended).detach())
        outputs += [layer.norm2(attended + layer.linear2(seen[-1].relu())), False]
    return seen, outputs
