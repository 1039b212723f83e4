# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "MultiheadAttention with several heads rejects one mask per sample, and repeat() mixes up the masks"
# kind = "error"
# symptom = "The shape of the 3D attn_mask is"
# messages = ["The shape of the 3D attn_mask is torch\\.Size"]
# elsewhere = ["The size of the 3D attn_mask is not correct"]
# origin = "design"
# reports = ["https://github.com/pytorch/pytorch/issues/64706"]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.MultiheadAttention.html",
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/nn/functional.py",
#     "https://github.com/pytorch/pytorch/issues/97605",
#     "https://github.com/line/lighthouse/pull/77",
# ]
# wrong = '''
# y, weights = attention(x, x, x, attn_mask=mask)  # mask: (batch, tokens, tokens)
# '''
# right = '''
# masks = mask.repeat_interleave(attention.num_heads, dim=0)  # as many for the next layer
# y, weights = attention(x, x, x, attn_mask=masks)
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""MultiheadAttention rejects a mask of shape (batch, tokens, tokens), because a 3-dimensional mask
needs an entry per head (pytorch#64706). The entries of one sample must be adjacent
(multi_head_attention_forward() in torch/nn/functional.py).

Calling mask.repeat(num_heads, 1, 1), as in pytorch#97605, gives the right shape but the wrong
order. Some heads then get the mask of another sample and see hidden tokens (popular fix). By
contrast, repeat_interleave() keeps the order (control; line/lighthouse#77). A mask row that hides
everything, such as the row of a padded query, gives NaN (see
attention/need_weights_masked_row_is_nan).
"""

import torch


def as_it_is(attention, x, mask):
    y, weights = attention(x, x, x, attn_mask=mask)
    return y


def interleaved(attention, x, mask):
    masks = mask.repeat_interleave(attention.num_heads, dim=0)
    y, weights = attention(x, x, x, attn_mask=masks)
    return y


def repeated(attention, x, mask):
    return as_it_is(attention, x, mask.repeat(attention.num_heads, 1, 1))


def check(device, attend):
    attention = torch.nn.MultiheadAttention(8, 2, batch_first=True).to(device)
    x = torch.linspace(-1, 1, 48, device=device).reshape(2, 3, 8)
    mask = torch.zeros(2, 3, 3, dtype=torch.bool, device=device)
    mask[0, :, 2] = True  # sample 0 must not see its last token
    try:
        y = attend(attention, x, mask)
    except RuntimeError as error:
        return str(error)
    alone = [attention(s, s, s, attn_mask=m)[0] for s, m in zip(x, mask)]
    if not torch.allclose(y, torch.stack(alone), atol=1e-4):
        return "the output is not that of each sample with its own mask"


def reproduce(device):
    return check(device, as_it_is)


def control(device):
    return check(device, interleaved)


def popular_fix(device):
    return check(device, repeated)


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
