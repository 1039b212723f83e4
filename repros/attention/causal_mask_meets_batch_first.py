# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "nn.MultiheadAttention expects a causal mask with the size of the batch, because batch_first is off"
# kind = "error"
# symptom = "The shape of the 2D attn_mask is"
# messages = ["The shape of the 2D attn_mask is torch\\.Size"]
# elsewhere = ["The size of the 2D attn_mask is not correct"]
# origin = "design"
# reports = [
#     "https://github.com/mlfoundations/open_clip/issues/910",
#     "https://github.com/FlorianFuerrutter/genQC/issues/1",
# ]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.MultiheadAttention.html",
# ]
# wrong = '''
# attention = torch.nn.MultiheadAttention(dim, heads)
# y, weights = attention(x, x, x, attn_mask=mask)  # x: (batch, tokens, features)
# '''
# right = '''
# attention = torch.nn.MultiheadAttention(dim, heads, batch_first=True)
# y, weights = attention(x, x, x, attn_mask=mask)  # x: (batch, tokens, features)
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The mask is as long as the sequence, but the error asks for a mask as long as the batch. Without
batch_first=True, the first dimension of x is the sequence (docs: MultiheadAttention). If the batch
size equals the sequence length, no error is raised, and the samples are silently mixed. The reverse
mistake fails too: when layers of open_clip became batch_first, callers continued to transpose the
input (mlfoundations/open_clip#910, FlorianFuerrutter/genQC#1). In that case, remove the transpose.

A mask of the size that the message asks for silences the error, but the tokens of one sample then
attend to other samples (popular fix).
"""

import torch


def check(device, layer, mask_size=3):
    x = torch.linspace(-1, 1, 48).reshape(2, 3, 8)
    mask = torch.full((mask_size, mask_size), float("-inf")).triu(1)
    try:
        attention = layer(8, 2, x, mask).to(device)
    except RuntimeError as error:
        return str(error)
    x, mask = x.to(device), mask.to(device)
    y = attention(x, x, x, attn_mask=mask)[0]
    for sample, output in zip(x, y):
        sees = [attention(sample[n : n + 1], *[sample[: n + 1]] * 2)[0] for n in range(3)]
        if not torch.allclose(torch.cat(sees), output, atol=1e-4):
            return "the output of a sample depends on another one or on later tokens"


def tokens_first(dim, heads, x, mask):
    attention = torch.nn.MultiheadAttention(dim, heads)
    y, weights = attention(x, x, x, attn_mask=mask)
    return attention


def samples_first(dim, heads, x, mask):
    attention = torch.nn.MultiheadAttention(dim, heads, batch_first=True)
    y, weights = attention(x, x, x, attn_mask=mask)
    return attention


def reproduce(device):
    return check(device, tokens_first)


def control(device):
    return check(device, samples_first)


def popular_fix(device):
    return check(device, tokens_first, mask_size=2)


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
