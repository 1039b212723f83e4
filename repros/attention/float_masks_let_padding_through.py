# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "MultiheadAttention attends to padding where both masks are float"
# kind = "silent"
# symptom = "the output depends on a padded token"
# keywords = [
#     "src_key_padding_mask ignored",
#     "padding mask has no effect",
#     "Transformer mask bug",
#     "output of a sentence changes with the amount of padding",
#     "same text, longer padding, other prediction",
#     "changing pad tokens changes my results",
#     "transformer pays attention to pad tokens",
#     "batched results differ from unpadded single results",
#     "padding mask seems to be ignored with a causal mask",
#     "accuracy falls when sequences are padded more",
#     "decoder looks at padded positions",
#     "attention weights on padding are not zero",
#     "adding the target mask disables the padding mask",
#     "different max length gives different logits",
# ]
# origin = "torch"
# reports = ["https://github.com/pytorch/pytorch/issues/92554"]
# documents = [
#     "https://github.com/pytorch/pytorch/blob/v1.13.1/torch/nn/functional.py",
#     "https://github.com/pytorch/pytorch/pull/92733",
# ]
# fixed_by = "pytorch#92733"
# wrong = '''
# attention(x, x, x, attn_mask=float_mask, key_padding_mask=float_padding)
# '''
# right = '''
# attention(x, x, x, attn_mask=float_mask, key_padding_mask=float_padding.bool())
# '''
# fix = "attention.attention_mask"
# affected = { cpu = "<2.0" }
# ///
"""Padding that a float mask excludes with -inf takes part in the attention.

Where attn_mask is float, multi_head_attention_forward() combines the two by
attn_mask.masked_fill(key_padding_mask, -inf), also if key_padding_mask holds floats
(torch/nn/functional.py): a -inf there counts as false (pytorch#92554; not measured on
other devices than the CPU). Since the fix it adds the two masks (pytorch#92733).
"""

import torch


def leak(device, as_bool):
    attention = torch.nn.MultiheadAttention(8, 2, batch_first=True).to(device)
    float_mask = torch.zeros(3, 3, device=device)
    float_padding = torch.tensor([[0.0, 0.0, float("-inf")]], device=device)
    padding = float_padding.bool() if as_bool else float_padding
    x = torch.linspace(-1, 1, 24, device=device).reshape(1, 3, 8)
    other = x.clone()
    other[:, 2] = x[:, 0]  # only the padded token differs
    first = [
        attention(seq, seq, seq, attn_mask=float_mask, key_padding_mask=padding)[0][:, 0]
        for seq in (x, other)
    ]
    if not torch.allclose(*first, atol=1e-5):
        return "the output depends on a padded token"


def reproduce(device):
    return leak(device, as_bool=False)


def control(device):
    return leak(device, as_bool=True)


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
