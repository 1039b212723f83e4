# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "scaled_dot_product_attention refuses an integer mask, and as a float mask it hides nothing"
# kind = "error"
# symptom = "Expected attn_mask dtype to be bool"
# messages = ["Expected attn_mask dtype to be bool or (?:float or )?(?:to )?match query dtype"]
# keywords = [
#     "got attn_mask.dtype: long int",
#     "attention_mask of the tokenizer in SDPA",
#     "attn_mask dtype error",
#     "attn_mask dtype c10::BFloat16 and query dtype float",
#     "attention mask of ones and zeros",
#     "padding is attended to",
#     "passing the tokenizer mask to attention does not hide padding",
#     "converted mask to float and padding still matters",
#     "mask of zeros and ones has hardly any effect",
#     "attention does not accept my 0/1 mask",
# ]
# origin = "design"
# reports = ["https://github.com/seal-rg/recurrent-pretraining/issues/18"]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.scaled_dot_product_attention.html",
#     "https://github.com/pytorch/pytorch/issues/21518",
# ]
# wrong = '''
# F.scaled_dot_product_attention(q, k, v, attn_mask=mask)  # mask: 1 for a token, 0 for padding
# '''
# right = '''
# F.scaled_dot_product_attention(q, k, v, attn_mask=mask.bool())
# '''
# requires = ">=2.0"
# affected = { cpu = ">=2.0", cuda = ">=2.0", mps = ">=2.0" }
# ///
"""The mask of a tokenizer is made of integers, and the attention raises
(seal-rg/recurrent-pretraining#18).

A boolean mask hides where it is False; any other is added to the scores (docs:
scaled_dot_product_attention). Cast to the dtype of the query, as the error suggests, ones
and zeros run, and padding takes part (popular fix; pytorch#21518 meets it in
MultiheadAttention).
"""

import torch
import torch.nn.functional as F


def attend(device, cast):
    q = torch.ones(1, 1, 2, 8, device=device)
    k = torch.linspace(-1, 1, 24, device=device).reshape(1, 1, 3, 8)
    mask = torch.tensor([[1, 1, 0]] * 2, device=device)
    other = k.clone()
    other[..., 2, :] = 5  # only the padding differs
    try:
        y = [F.scaled_dot_product_attention(q, v, v, attn_mask=cast(mask)) for v in (k, other)]
    except RuntimeError as error:
        return str(error)
    if not torch.allclose(*y, atol=1e-5):
        return "the output depends on a padded token"


def reproduce(device):
    return attend(device, lambda mask: mask)


def control(device):
    return attend(device, lambda mask: mask.bool())


def popular_fix(device):
    return attend(device, lambda mask: mask.float())


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
