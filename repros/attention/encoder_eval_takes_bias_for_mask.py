# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "TransformerEncoderLayer with batch_first=True masks every key with a bias other than 0 in eval mode under no_grad()"
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
# choice = "Take the fix, which records no graph; the lines where its memory does not matter, and not under inference_mode(), where the layers of a frozen encoder keep to the fast path"
# affected = { cpu = ">=2.0", cuda = ">=2.0" }
# ///
"""In an encoder that is trained with a position bias (ALiBi), each token attends to
itself only in evaluation; with a bias that has no zero, the output is NaN
(pytorch#118628).

In eval mode under no_grad() the layer takes its fast path, since 2.0 also with a mask
(pytorch#87377), with batch_first=True and an even number of heads. There a float mask is converted
to bool, so that every bias but 0 masks its key, and a warning speaks of performance only
(aten/src/ATen/native/transformers/attention.cpp). MultiheadAttention did so, too
(pytorch#107084), and takes the slow path for float masks now (pytorch#107641).

With gradients the layer takes the slow path where its input or one of its parameters
requires them (torch/nn/modules/transformer.py); from 2.3 on it does so, too, after
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
