# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "scaled_dot_product_attention rejects an integer mask, whose ones and zeros hide nothing after a cast to float"
# kind = "error"
# symptom = "Expected attn_mask dtype to be bool"
# messages = [
#     "Expected attn_mask dtype to be bool or (?:float or )?to match query dtype, but got attn_mask\\.dtype: (?:(?:long|short) )?int",
#     "Expected attn_mask dtype to be bool or (?:float or )?to match query dtype, but got attn_mask\\.dtype: (?:un)?signed char",
# ]
# elsewhere = ["Expected attn_mask dtype to be bool or (?:float or )?to match query dtype, but got attn_mask\\.dtype: long\\b"]
# origin = "design"
# reports = ["https://github.com/seal-rg/recurrent-pretraining/issues/18"]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.scaled_dot_product_attention.html",
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.MultiheadAttention.html",
# ]
# wrong = '''
# mask = attention_mask[:, None, None, :]  # (batch, tokens) of a tokenizer: 1 for a token, 0 for padding
# y = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
# '''
# right = '''
# mask = attention_mask[:, None, None, :].bool()  # True for a token, False for padding
# y = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
# '''
# requires = ">=2.0"
# affected = { cpu = ">=2.0", cuda = ">=2.0", mps = ">=2.0" }
# ///
"""A tokenizer's mask consists of integers, which the attention rejects
(seal-rg/recurrent-pretraining#18).

A boolean mask hides the positions where it is False; any other mask is added to the scores (docs:
scaled_dot_product_attention). The message suggests casting the mask to the query's dtype. For a
mask of ones and zeros, this raises no error, but padding then takes part in the attention (popular
fix). The masks of MultiheadAttention have the opposite meaning (docs: MultiheadAttention), so its
key_padding_mask is attention_mask == 0. Use bool() only for a mask of ones and zeros. An integer
mask of 0 and -10000 is meant to be added, and bool() would hide its tokens. Before torch 2.5, a row
that contains only padding gives NaN (see attention/sdpa_masked_row_is_nan).
"""

import torch


def start(device):
    q = torch.ones(2, 1, 3, 8, device=device)
    k = torch.linspace(-1, 1, 48, device=device).reshape(2, 1, 3, 8)
    return q, k, torch.tensor([[1, 1, 0], [1, 1, 1]], device=device)


def check(attend, device):
    q, k, attention_mask = start(device)
    try:
        y = attend(q, k, k, attention_mask)
    except RuntimeError as error:
        return str(error)
    scores = q @ k.mT / 8**0.5
    scores[0, :, :, 2] = -float("inf")  # the padding
    if not torch.allclose(y, scores.softmax(dim=-1) @ k, atol=1e-5):
        return "the output depends on a padded token"


def as_it_is(q, k, v, attention_mask):
    mask = attention_mask[:, None, None, :]
    y = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return y


def as_bool(q, k, v, attention_mask):
    mask = attention_mask[:, None, None, :].bool()
    y = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return y


def reproduce(device):
    return check(as_it_is, device)


def control(device):
    return check(as_bool, device)


def messages(device):
    q, k, mask = start(device)
    texts = []
    for dtype in (torch.int16, torch.int32, torch.int64, torch.uint8, torch.int8):
        try:
            as_it_is(q, k, k, mask.to(dtype))
        except RuntimeError as error:
            texts.append(str(error))
    return "\n".join(texts)


def popular_fix(device):
    return check(lambda q, k, v, mask: as_it_is(q, k, v, mask.to(q.dtype)), device)


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control, messages, popular_fix):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
