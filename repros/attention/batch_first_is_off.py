# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "MultiheadAttention and TransformerEncoder mix the samples of a batch: batch_first is off by default"
# kind = "silent"
# symptom = "the output of sample 0 depends on sample 1"
# keywords = [
#     "transformer predictions depend on the other samples",
#     "batch inference differs from single inference",
#     "predictions change with the batch size",
#     "attention over the batch dimension",
#     "batch_first=False default",
#     "transformer does not learn high loss",
#     "attention leaks between samples",
#     "transformer learns nothing although the shapes are right",
#     "prediction for one sentence changes with the other sentences",
#     "single sample inference gives different result than batched",
#     "my ViT from scratch is stuck at low accuracy",
#     "score of an image depends on accompanying images",
#     "transformer encoder time series forecast is bad",
#     "results vary when I shuffle the test set",
#     "translation loss stays high, model copies nothing useful",
#     "evaluation with batch size one is much worse",
#     "positions do not see their own sequence",
#     "text classifier with nn.Transformer no better than chance",
#     "order of dimensions for the transformer input",
#     "attention weights have the wrong shape, batch by batch",
# ]
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
# attention = torch.nn.MultiheadAttention(8, 2)
# attention(x, x, x)  # x: (batch, tokens, features)
# '''
# right = '''
# attention = torch.nn.MultiheadAttention(8, 2, batch_first=True)
# attention(x, x, x)  # x: (batch, tokens, features)
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""Every shape fits, training runs, and each token attends to the tokens at its place in the
other samples instead of those of its own sequence.

Without batch_first=True the first dimension is the sequence (docs: MultiheadAttention).
Predictions then depend on what else is in the batch (dhimasryan/MOSA-Net-Cross-Domain#10,
om-ai-lab/OmDet#19), and the model learns badly (Exorust/TorchLeet#5).
"""

import torch


def mix(device, **options):
    attention = torch.nn.MultiheadAttention(8, 2, **options).to(device)
    x = torch.linspace(-1, 1, 48, device=device).reshape(2, 3, 8)  # (batch, tokens, features)
    other = x.clone()
    other[1] = -x[0]  # only sample 1 differs
    first = [attention(batch, batch, batch)[0][0] for batch in (x, other)]
    if not torch.allclose(*first, atol=1e-5):
        return "the output of sample 0 depends on sample 1"


def reproduce(device):
    return mix(device)


def control(device):
    return mix(device, batch_first=True)


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
