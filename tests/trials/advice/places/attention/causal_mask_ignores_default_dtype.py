"""A causal layer in a program in float64, then in bfloat16, against each token and those before it."""

import torch

SETTINGS = ("plain", "dropout")


def run(t, dtype, attend):
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        attention = torch.nn.MultiheadAttention(8, 2, dropout=t.setting.dropout, batch_first=True)
        return [attend(attention.eval(), torch.randn(2, n, 8)).float() for n in (4, 1)]
    finally:
        torch.set_default_dtype(before)


def place(t):
    def attend(attention, x):
        paste
        assert mask.dtype == x.dtype
        return attention(x, x, x, attn_mask=mask)[0]

    return [run(t, dtype, attend) for dtype in (torch.float64, torch.bfloat16)]


def reference(t):
    def attend(attention, x):
        seen = [attention(x[:, n : n + 1], *[x[:, : n + 1]] * 2)[0] for n in range(x.shape[1])]
        return torch.cat(seen, dim=1)

    return [run(t, dtype, attend) for dtype in (torch.float64, torch.bfloat16)]


TOLERANCE = 0.02
