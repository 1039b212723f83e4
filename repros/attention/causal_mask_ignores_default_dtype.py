# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "nn.Transformer.generate_square_subsequent_mask ignores set_default_dtype"
# kind = "silent"
# symptom = "mask is float32 where the default is float64"
# messages = [
#     "Expected attn_mask dtype to be bool or to match query dtype, but got attn_mask\\.dtype: float and {1,2}query\\.dtype: double",
# ]
# origin = "torch"
# reports = ["https://github.com/pytorch/pytorch/issues/137186"]
# documents = [
#     "https://github.com/pytorch/pytorch/pull/137654",
#     "https://github.com/pytorch/pytorch/pull/115867",
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.Transformer.html",
# ]
# fixed_by = "pytorch#137654"
# wrong = '''
# mask = torch.nn.Transformer.generate_square_subsequent_mask(x.shape[1])
# '''
# right = '''
# mask = torch.nn.Transformer.generate_square_subsequent_mask(x.shape[1]).to(x)  # x: the embeddings
# '''
# affected = { cpu = ">=2.1,<2.6" }
# ///
"""The causal mask is float32 in a program whose default dtype is float64.

In the signature, the dtype argument defaulted to torch.get_default_dtype(), which was evaluated
only once, when torch was imported. From 2.3 on, the default was float32 (pytorch#115867). A mask
with the dtype and device of the input works in every release (control). The function ignored the
default device too (pytorch#137186).
"""

import torch


def check(device, make_mask):
    dtype = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        mask = make_mask(torch.zeros(1, 3, 8, device=device))
    finally:
        torch.set_default_dtype(dtype)
    if mask.dtype != torch.float64:
        found = str(mask.dtype).partition(".")[2]
        return f"mask is {found} where the default is float64"
    if mask.exp().cumsum(dim=1)[:, -1].tolist() != [1, 2, 3]:
        return f"the mask is {mask.tolist()}"


def by_default(x):
    mask = torch.nn.Transformer.generate_square_subsequent_mask(x.shape[1])
    return mask


def as_the_input(x):
    mask = torch.nn.Transformer.generate_square_subsequent_mask(x.shape[1]).to(x)
    return mask


def reproduce(device):
    return check(device, by_default)


def control(device):
    return check(device, as_the_input)


def messages(device):
    q, mask = torch.ones(1, 1, 3, 8, dtype=torch.float64, device=device), torch.zeros(3, 3)
    try:
        torch.nn.functional.scaled_dot_product_attention(q, q, q, attn_mask=mask.to(device))
    except (RuntimeError, AttributeError) as error:
        return str(error)


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control, messages):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
