# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "True in a mask hides a key from MultiheadAttention, but shows it to scaled_dot_product_attention"
# kind = "silent"
# symptom = "only the padding is attended to"
# origin = "design"
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.scaled_dot_product_attention.html",
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.MultiheadAttention.html",
# ]
# wrong = '''
# mask = padding[:, None, None]  # True where a key is padding
# y = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
# '''
# right = '''
# mask = ~padding[:, None, None]  # padding is True where a key is padding
# y = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
# '''
# requires = ">=2.0"
# affected = { cpu = ">=2.0", cuda = ">=2.0", mps = ">=2.0" }
# ///
"""The output is a weighted mean of the padding, because the real keys are hidden. No error is
raised.

In scaled_dot_product_attention(), True lets a key take part (docs:
torch.nn.functional.scaled_dot_product_attention). In nn.MultiheadAttention and the transformer
layers, True in key_padding_mask or attn_mask means that the key is ignored (docs:
torch.nn.MultiheadAttention). A mask that is made for one of the two APIs must therefore be inverted
for the other. For a sample without padding, the wrong line's mask is False everywhere, so the
result is NaN in 2.3, and zeros in 2.13. The right line does the same for a sample that consists
only of padding, so leave out these samples. Both APIs add a float mask to the scores, so do not
invert a float mask. The operator ~ raises a TypeError for such a mask. The index [:, None, None]
fits q of shape [N, heads, L, E] and padding of shape [N, S]. For q of shape [N, L, E], write [:,
None].
"""

import torch


def start(device):
    q = torch.linspace(-1, 1, 8, device=device).reshape(1, 1, 1, 8)
    k = torch.linspace(1, 2, 24, device=device).reshape(1, 1, 3, 8)
    v = torch.tensor([1.0, 1.0, 9.0], device=device).reshape(1, 1, 3, 1).expand(1, 1, 3, 8)
    return q, k, v, torch.tensor([[False, False, True]], device=device)


def check(y):
    if torch.allclose(y, torch.full_like(y, 9)):
        return "only the padding is attended to"
    if not torch.allclose(y, torch.ones_like(y)):
        return f"the output is {y.tolist()}"


def reproduce(device):
    q, k, v, padding = start(device)
    mask = padding[:, None, None]  # True where a key is padding
    y = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return check(y)


def control(device):
    q, k, v, padding = start(device)
    mask = ~padding[:, None, None]  # padding is True where a key is padding
    y = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return check(y)


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
