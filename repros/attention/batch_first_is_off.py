# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "nn.MultiheadAttention mixes the samples of a batch, because batch_first is off by default"
# kind = "silent"
# symptom = "the output of a sample depends on the other"
# origin = "design"
# reports = [
#     "https://github.com/dhimasryan/MOSA-Net-Cross-Domain/issues/10",
#     "https://github.com/om-ai-lab/OmDet/issues/19",
#     "https://github.com/aipixel/AEMatter/issues/3",
#     "https://github.com/Exorust/TorchLeet/issues/5",
# ]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.MultiheadAttention.html",
#     "https://github.com/IBM/TabFormer/pull/14",
# ]
# wrong = '''
# attention = torch.nn.MultiheadAttention(dim, heads)
# y, weights = attention(x, x, x)  # x: (batch, tokens, features)
# '''
# right = '''
# attention = torch.nn.MultiheadAttention(dim, heads, batch_first=True)
# y, weights = attention(x, x, x)  # x: (batch, tokens, features)
# '''
# rule = "warning"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""Without a mask, all shapes fit and training runs. However, each token attends to the tokens at
its position in the other samples instead of the tokens of its own sequence. With a mask, the shapes
fit only if the batch has as many samples as each sequence has tokens.

Without batch_first=True, the first dimension is the sequence (docs: MultiheadAttention).
Predictions then depend on the rest of the batch (dhimasryan/MOSA-Net-Cross-Domain#10,
om-ai-lab/OmDet#19), and the model learns poorly (Exorust/TorchLeet#5).

For an encoder or decoder, pass batch_first to the layer: TransformerEncoderLayer(...,
batch_first=True). Also change other code that indexes the tokens, such as a positional encoding
pe[:x.size(0)]. Weights that were trained without batch_first still load but give different outputs,
so train the model again. On torch 1.13 and 2.0, an encoder with batch_first=True can shorten its
output in eval mode: see attention/encoder_eval_shortens_the_sequence.
"""

import copy

import torch


def check(device, layer):
    x = torch.linspace(-1, 1, 48).reshape(2, 3, 8)  # (batch, tokens, features)
    attention = layer(8, 2, x)
    attention, x = copy.deepcopy(attention).to(device), x.to(device)
    y = attention(x, x, x)[0]
    for sample, output in zip(x, y):
        alone = attention(sample, sample, sample)[0]  # (tokens, features)
        if not torch.allclose(alone, output, atol=1e-4):
            return "the output of a sample depends on the other"


def tokens_first(dim, heads, x):
    attention = torch.nn.MultiheadAttention(dim, heads)
    y, weights = attention(x, x, x)
    return attention


def samples_first(dim, heads, x):
    attention = torch.nn.MultiheadAttention(dim, heads, batch_first=True)
    y, weights = attention(x, x, x)
    return attention


def reproduce(device):
    return check(device, tokens_first)


def control(device):
    return check(device, samples_first)


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
