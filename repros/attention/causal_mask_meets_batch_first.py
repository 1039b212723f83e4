# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A causal mask has the wrong shape for MultiheadAttention: its first dimension is not the batch"
# kind = "error"
# symptom = "The shape of the 2D attn_mask is"
# messages = ["The (?:shape|size) of the 2D attn_mask is (?:torch\\.Size|not correct)"]
# keywords = [
#     "attn_mask shape but should be (batch, batch)",
#     "attn_mask should be the batch size",
#     "causal mask shape error",
#     "TransformerEncoder mask shape error",
#     "forgot batch_first=True",
#     "torch.Size([77, 77]), but should be (128, 128)",
#     "open_clip encode_text mask error",
#     "causal mask does not fit the attention input",
#     "transformer mask works only when batch equals length",
#     "which shape should the attention mask have",
#     "decoder mask size error with batch first data",
# ]
# origin = "design"
# reports = [
#     "https://github.com/mlfoundations/open_clip/issues/910",
#     "https://github.com/FlorianFuerrutter/genQC/issues/1",
# ]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.MultiheadAttention.html",
# ]
# wrong = '''
# attention = torch.nn.MultiheadAttention(8, 2)
# attention(x, x, x, attn_mask=mask)  # x: (batch, tokens, features)
# '''
# right = '''
# attention = torch.nn.MultiheadAttention(8, 2, batch_first=True)
# attention(x, x, x, attn_mask=mask)  # x: (batch, tokens, features)
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The mask is as long as the sequence, and the error asks for one as long as the batch:
without batch_first=True the first dimension of x is the sequence (docs:
MultiheadAttention). The other way round it fails too: layers of open_clip became
batch_first, and callers went on to transpose the input (mlfoundations/open_clip#910,
FlorianFuerrutter/genQC#1).

A mask of the size that the error asks for ends it; the tokens of one sample then attend
to other samples (popular fix).
"""

import torch


def attend(device, mask_size, **options):
    attention = torch.nn.MultiheadAttention(8, 2, **options).to(device)
    x = torch.linspace(-1, 1, 48, device=device).reshape(2, 3, 8)
    # on the CPU: on MPS before torch 2.5 triu() makes NaN of -inf (pytorch#128575)
    mask = torch.full((mask_size, mask_size), float("-inf")).triu(1).to(device)
    other = x.clone()
    other[0] = -x[1]  # only sample 0 differs
    try:
        last = [attention(x, x, x, attn_mask=mask)[0][1] for x in (x, other)]
    except RuntimeError as error:
        return str(error)
    if not torch.allclose(*last, atol=1e-5):
        return "the output of sample 1 depends on sample 0"


def reproduce(device):
    return attend(device, mask_size=3)


def control(device):
    return attend(device, mask_size=3, batch_first=True)


def popular_fix(device):
    return attend(device, mask_size=2)


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control, popular_fix):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
