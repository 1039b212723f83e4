# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "MultiheadAttention has NaN gradients if one sequence is fully masked"
# kind = "silent"
# symptom = "the loss is finite, in_proj_weight\\.grad is nan"
# origin = "torch"
# reports = ["https://github.com/pytorch/pytorch/issues/41508"]
# documents = [
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/nn/functional.py",
#     "https://github.com/pytorch/pytorch/issues/160064",
#     "https://github.com/pytorch/pytorch/pull/131060",
#     "https://github.com/pytorch/pytorch/pull/185338",
#     "https://github.com/pytorch/pytorch/pull/196170",
# ]
# wrong = '''
# y, _ = attention(x, x, x, key_padding_mask=padding)
# loss = y[~padding].sum()
# '''
# right = '''
# empty = padding.all(dim=1, keepdim=True)
# y, _ = attention(x, x, x, key_padding_mask=padding & ~empty)
# y = y.masked_fill(empty[..., None], 0)  # it has attended to its padding; y has the batch first
# loss = y[~padding].sum()
# '''
# fix = "attention.attention_mask"
# use = '''
# from attention import attention_mask
# mask, empty = attention_mask(padding, attention.num_heads, dtype=x.dtype)
# y, _ = attention(x, x, x, attn_mask=mask.flatten(0, 1))
# y = y.masked_fill(empty[..., None], 0)
# loss = y[~padding].sum()
# '''
# choice = "Normally, use the lines without the fix; use the fix if a causal mask or a bias hides keys too. In cross-attention, pass queries=q.shape[1] to the fix"
# affected = { cpu = ">=1.13", cuda = ">=1.13" }
# ///
"""A sequence without any tokens makes the gradients of all weights NaN, although the loss omits
that sequence and is finite.

With need_weights=True, the default, multi_head_attention_forward() calls softmax() on scores that
are all -inf (torch/nn/functional.py). The result is NaN. Its gradient is zero, but zero times NaN
is NaN, which reaches the weights that the whole batch shares (pytorch#196170). A mask that hides
all keys from a head makes the output NaN (pytorch#160064). If the queries come from a different
sequence, as in cross-attention, an empty sequence produces outputs that no loss mask excludes.

With need_weights=False, scaled_dot_product_attention() has returned zeros for these rows since 2.5.
pytorch#41508 was among the reasons for that change (pytorch#131060; see
attention/sdpa_masked_row_is_nan). pytorch#185338 proposes the same for need_weights=True. In eval
mode under no_grad(), a layer with batch_first=True still returns NaN in 2.15, even with
need_weights=False.
"""

import torch


def unguarded(attention, x, padding):
    y, _ = attention(x, x, x, key_padding_mask=padding)
    loss = y[~padding].sum()
    return loss


def guarded(attention, x, padding):
    empty = padding.all(dim=1, keepdim=True)
    y, _ = attention(x, x, x, key_padding_mask=padding & ~empty)
    y = y.masked_fill(empty[..., None], 0)  # it has attended to its padding; y has the batch first
    loss = y[~padding].sum()
    return loss


def train(device, loss_of):
    attention = torch.nn.MultiheadAttention(8, 2, batch_first=True).to(device)
    x = torch.linspace(-1, 1, 48, device=device).reshape(2, 3, 8)
    padding = torch.tensor([[False] * 3, [True] * 3], device=device)
    loss = loss_of(attention, x, padding)
    weight = attention.in_proj_weight
    (gradient,) = torch.autograd.grad(loss, weight)
    if loss.isfinite() and gradient.isnan().all():
        return "the loss is finite, in_proj_weight.grad is nan"
    (expected,) = torch.autograd.grad(attention(x[:1], x[:1], x[:1])[0].sum(), weight)
    if not torch.allclose(gradient, expected, rtol=1e-3, atol=1e-3):
        return "the gradient is not that of the batch without the empty sequence"


def reproduce(device):
    return train(device, unguarded)


def control(device):
    return train(device, guarded)


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
