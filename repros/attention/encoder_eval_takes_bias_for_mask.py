# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "TransformerEncoderLayer in eval mode masks every key that has an attention bias"
# kind = "silent"
# symptom = "the first token sees no other token"
# keywords = [
#     "Converting mask without torch.bool dtype to bool",
#     "relative position bias",
#     "float src_mask",
#     "nan in evaluation",
#     "ALiBi model good in training, terrible in validation",
#     "transformer with distance bias evaluates at chance level",
#     "eval outputs differ hugely from train outputs with dropout 0",
#     "nan predictions only at inference, training loss is fine",
#     "soft attention mask is treated as hard mask",
#     "each token only looks at itself in evaluation",
#     "additive mask works with grad but not under no_grad",
#     "validation accuracy collapses with additive attention bias",
#     "graph transformer spatial bias breaks in test mode",
#     "inference results wrong only with torch.no_grad()",
#     "perplexity on the held-out set far above the training one",
# ]
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
# with torch.no_grad(): y = layer.eval()(x, src_mask=alibi)
# '''
# right = '''
# with torch.enable_grad(): y = layer.eval()(x, src_mask=alibi)
# '''
# fix = "attention.without_fast_path"
# affected = { cpu = ">=2.0", cuda = ">=2.0" }
# ///
"""In an encoder that is trained with a position bias (ALiBi), each token attends to
itself only in evaluation; with a bias that has no zero, the output is NaN
(pytorch#118628).

In eval mode without gradients the layer takes its fast path, since 2.0 also with a mask
(pytorch#87377). There a float mask is converted to bool, so that every bias but 0 masks
its key, and a warning speaks of performance only
(aten/src/ATen/native/transformers/attention.cpp). MultiheadAttention did so, too
(pytorch#107084), and takes the slow path for float masks now (pytorch#107641).

With gradients the layer takes the slow path, unless all its parameters are frozen
(torch/nn/modules/transformer.py); from 2.3 on it does so, too, after
torch.backends.mha.set_fastpath_enabled(False) (pytorch#112212).
"""

import torch


def blind(device, grad):
    layer = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).to(device)
    position = torch.arange(3.0, device=device)
    alibi = -(position[:, None] - position).abs()
    x = torch.linspace(-1, 1, 24, device=device).reshape(1, 3, 8)
    other = x.clone()
    other[:, 1:] = x[:, :1]  # only the first token is the same
    with torch.enable_grad() if grad else torch.no_grad():
        first = [layer.eval()(tokens, src_mask=alibi)[:, 0] for tokens in (x, other)]
    if torch.allclose(*first, atol=1e-5):
        return "the first token sees no other token"


def reproduce(device):
    return blind(device, grad=False)


def control(device):
    return blind(device, grad=True)


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
