# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "In eval mode under no_grad(), a batch_first TransformerEncoderLayer ignores is_causal=True without a mask"
# kind = "silent"
# symptom = "a token sees those after it"
# origin = "design"
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.TransformerEncoderLayer.html",
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/nn/modules/transformer.py",
#     "https://github.com/pytorch/pytorch/issues/96941",
#     "https://github.com/pytorch/pytorch/pull/97214",
#     "https://github.com/pytorch/pytorch/pull/187413",
# ]
# wrong = '''
# layer.eval()
# with torch.no_grad():
#     y = layer(x, is_causal=True)  # x: (batch, tokens, features)
# '''
# right = '''
# layer.eval()
# mask = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool, device=x.device).triu(1)
# with torch.no_grad():
#     y = layer(x, src_mask=mask, is_causal=True)
# '''
# requires = ">=2.0"
# affected = { cpu = ">=2.0", cuda = ">=2.0" }
# ///
"""During evaluation, a causal encoder attends to future tokens, although it is called with
is_causal=True.

The documentation says that the argument "applies a causal mask", but warns that is_causal is only a
hint that src_mask is the causal mask (docs: torch.nn.TransformerEncoderLayer). According to a
maintainer, incorrect hints are the user's responsibility (pytorch#187413).

In training, or with batch_first=False, passing the hint without a mask raises "Need attn_mask if
specifying the is_causal hint" (pytorch#97214). In eval mode under no_grad(), the layer takes its
fast path, which requires batch_first=True, biases and an even number of heads. The fast path
receives the masks but not the hint (torch/nn/modules/transformer.py), so each token attends to all
tokens. A frozen layer takes the fast path even with gradients enabled. In torch 2.0.0, every layer
ignored the hint, even with gradients enabled (pytorch#96941). A TransformerEncoder passes the hint
on and fails in the same way, but its mask argument is called mask, not src_mask.
"""

import torch


def start(device):
    layer = torch.nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True).to(device)
    return layer, torch.linspace(-1, 1, 32, device=device).reshape(1, 4, 8)


def check(layer, x, y):
    mask = torch.full((4, 4), float("-inf")).triu(1).to(x.device)
    expected = layer.train()(x, src_mask=mask)
    if not torch.allclose(y, expected, atol=1e-4):
        return "the output is not that of training: a token sees those after it"


def reproduce(device):
    layer, x = start(device)
    layer.eval()
    try:
        with torch.no_grad():
            y = layer(x, is_causal=True)
    except RuntimeError as error:
        if "is_causal" not in str(error):
            raise
        return None
    return check(layer, x, y)


def control(device):
    layer, x = start(device)
    layer.eval()
    mask = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool, device=x.device).triu(1)
    with torch.no_grad():
        y = layer(x, src_mask=mask, is_causal=True)
    return check(layer, x, y)


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
