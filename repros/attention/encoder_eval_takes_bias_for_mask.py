# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "In eval mode under no_grad(), a batch_first TransformerEncoderLayer masks every key with a nonzero bias"
# kind = "silent"
# symptom = "a token sees no other token"
# origin = "torch"
# reports = ["https://github.com/pytorch/pytorch/issues/118628"]
# documents = [
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/aten/src/ATen/native/transformers/attention.cpp",
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/nn/modules/transformer.py",
#     "https://github.com/pytorch/pytorch/issues/107084",
#     "https://github.com/pytorch/pytorch/pull/107641",
#     "https://github.com/pytorch/pytorch/pull/87377",
#     "https://github.com/pytorch/pytorch/pull/112212",
# ]
# wrong = '''
# layer.eval()
# with torch.no_grad():
#     y = layer(x, src_mask=alibi)
# '''
# right = '''
# layer.eval()
# with torch.enable_grad():
#     y = layer(x.detach().requires_grad_(), src_mask=alibi).detach()
# '''
# fix = "attention.without_fast_path"
# use = '''
# from attention import without_fast_path
# layer.eval()
# with torch.no_grad(), without_fast_path(layer):
#     y = layer(x, src_mask=alibi)
# '''
# choice = "Use the fix, which records no graph. If the memory for the graph does not matter, use the lines without the fix, but not under inference_mode(), where the layers of a frozen encoder stay on the fast path"
# affected = { cpu = ">=2.0", cuda = ">=2.0" }
# ///
"""During evaluation, each token of an encoder trained with a position bias (ALiBi) attends only to
itself. If the bias contains no zeros, the output is NaN (pytorch#118628).

In eval mode under no_grad(), a layer with batch_first=True and an even number of heads takes its
fast path. Since 2.0, it does so even with a mask (pytorch#87377). The fast path converts a float
mask to bool, so every nonzero bias masks its key. A warning appears, but mentions only performance
(aten/src/ATen/native/transformers/attention.cpp). MultiheadAttention did the same (pytorch#107084),
but now takes the slow path for float masks (pytorch#107641).

With gradients enabled, the layer takes the slow path if its input or one of its parameters requires
gradients (torch/nn/modules/transformer.py). From 2.3 on, it also takes the slow path after
torch.backends.mha.set_fastpath_enabled(False) (pytorch#112212).
"""

import torch


def start(device):
    layer = torch.nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True).to(device)
    position = torch.arange(3.0, device=device)
    x = torch.linspace(-1, 1, 24, device=device).reshape(1, 3, 8).sin()
    return layer.requires_grad_(False), x, -(position[:, None] - position).abs()


def check(layer, x, alibi, y):
    expected = layer.train()(x, src_mask=alibi)
    if not torch.allclose(y, expected, atol=1e-4):
        return "the output is not that of training: a token sees no other token"
    if y.requires_grad:
        return "the output has a graph"


def reproduce(device):
    layer, x, alibi = start(device)
    layer.eval()
    with torch.no_grad():
        y = layer(x, src_mask=alibi)
    return check(layer, x, alibi, y)


def control(device):
    layer, x, alibi = start(device)
    layer.eval()
    with torch.enable_grad():
        y = layer(x.detach().requires_grad_(), src_mask=alibi).detach()
    return check(layer, x, alibi, y)


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
