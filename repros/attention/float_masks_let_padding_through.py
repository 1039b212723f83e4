# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "MultiheadAttention attends to padding if attn_mask and key_padding_mask are float and padding is -inf"
# kind = "silent"
# symptom = "the output depends on a padded token"
# origin = "torch"
# reports = ["https://github.com/pytorch/pytorch/issues/92554"]
# documents = [
#     "https://github.com/pytorch/pytorch/blob/v1.13.1/torch/nn/functional.py",
#     "https://github.com/pytorch/pytorch/pull/92733",
# ]
# fixed_by = "pytorch#92733"
# wrong = '''
# y, weights = attention(x, x, x, attn_mask=float_mask, key_padding_mask=float_padding)
# '''
# right = '''
# padding = float_padding.bool()
# y, weights = attention(x, x, x, attn_mask=float_mask, key_padding_mask=padding)
# '''
# fix = "attention.attention_mask"
# use = '''
# from attention import attention_mask
# mask, empty = attention_mask(float_padding.bool(), attention.num_heads, bias=float_mask, dtype=x.dtype)
# y, weights = attention(x, x, x, attn_mask=mask.flatten(0, 1))
# '''
# choice = "Use the lines without the fix if every sequence has at least one token; use the fix if a sequence may be empty"
# affected = { cpu = "<2.0" }
# ///
"""Padding that a float mask excludes with -inf still takes part in the attention.

If attn_mask is float, multi_head_attention_forward() combines the two masks with
attn_mask.masked_fill(key_padding_mask, -inf), even if key_padding_mask contains floats
(torch/nn/functional.py). An entry of -inf in key_padding_mask is then treated as False
(pytorch#92554; measured only on the CPU). An entry of -1e9 causes an error. Since the upstream fix,
the function adds the two masks (pytorch#92733), and warns if one of them is bool.

The corrected code expects a mask that is 0 for tokens. If the mask is 1 for tokens, bool() would
hide the tokens.
"""

import torch


def as_floats(attention, x, float_mask, float_padding):
    y, weights = attention(x, x, x, attn_mask=float_mask, key_padding_mask=float_padding)
    return y


def as_bool(attention, x, float_mask, float_padding):
    padding = float_padding.bool()
    y, weights = attention(x, x, x, attn_mask=float_mask, key_padding_mask=padding)
    return y


def check(device, attend):
    attention = torch.nn.MultiheadAttention(8, 2, batch_first=True).to(device)
    float_mask = torch.zeros(3, 3, device=device)
    float_padding = torch.tensor([[0.0, 0.0, float("-inf")]], device=device)
    x = torch.linspace(-1, 1, 24, device=device).reshape(1, 3, 8)
    y = attend(attention, x, float_mask, float_padding)
    alone = attention(x[:, :2], x[:, :2], x[:, :2])[0]
    if not torch.allclose(y[:, :2], alone, atol=1e-5):
        return "the output depends on a padded token"


def reproduce(device):
    return check(device, as_floats)


def control(device):
    return check(device, as_bool)


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
