# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "scaled_dot_product_attention returns NaN for a row whose keys are all masked"
# kind = "silent"
# symptom = "output and gradient of the masked row are nan"
# origin = "torch"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/103749",
#     "https://github.com/pytorch/pytorch/issues/103963",
# ]
# documents = [
#     "https://github.com/pytorch/pytorch/pull/131060",
#     "https://github.com/pytorch/pytorch/pull/133882",
# ]
# fixed_by = "pytorch#133882"
# wrong = '''
# y = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
# '''
# right = '''
# empty = ~mask.any(dim=-1, keepdim=True)  # queries without a key; the mask is bool
# y = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask | empty)
# y = y.masked_fill(empty, 0)
# '''
# fix = "upgrade"
# requires = ">=2.0"
# affected = { cpu = ">=2.0,<2.5" }
# ///
"""If all keys of a query are masked, as for a padded query, its output and its gradient are NaN.

The scores of the row are all -inf, and their softmax is NaN (pytorch#103749). Since the upstream
fix, the function returns zeros for such rows (pytorch#131060, pytorch#133882).

On 2.3, a float mask of 0 and -inf gives NaN too. The corrected code expects a bool mask, so convert
a float mask with mask == 0. In every release, hand-written attention with softmax() still gives
NaN. MultiheadAttention with need_weights=True does so too (see
attention/need_weights_masked_row_is_nan).
"""

import torch


def start(device):
    q = torch.linspace(-1, 1, 16, device=device).reshape(1, 1, 2, 8).requires_grad_()
    k = torch.linspace(1, 2, 24, device=device).reshape(1, 1, 3, 8)
    mask = torch.tensor([[True, True, False], [False, False, False]], device=device)
    return q, k, k, mask


def check(q, k, y):
    y.sum().backward()
    if y[..., 1, :].isnan().all() and q.grad[..., 1, :].isnan().all():
        return "output and gradient of the masked row are nan"
    expected = (q[..., :1, :] @ k[..., :2, :].mT / 8**0.5).softmax(dim=-1) @ k[..., :2, :]
    if not torch.allclose(y[..., :1, :], expected, atol=1e-4) or y[..., 1, :].any():
        return f"the output is {y.tolist()}"
    if q.grad[..., 1, :].any() or not q.grad[..., 0, :].any():
        return f"the gradient is {q.grad.tolist()}"


def reproduce(device):
    q, k, v, mask = start(device)
    y = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return check(q, k, y)


def control(device):
    q, k, v, mask = start(device)
    empty = ~mask.any(dim=-1, keepdim=True)
    y = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask | empty)
    y = y.masked_fill(empty, 0)
    return check(q, k, y)


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
