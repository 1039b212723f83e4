# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "scaled_dot_product_attention returns NaN for a row whose keys are all masked"
# kind = "silent"
# symptom = "output and gradient of the masked row are nan"
# keywords = [
#     "SDPA nan padding mask",
#     "attention nan left padding",
#     "scaled_dot_product_attention returns nan",
#     "boolean mask with a row of zeros",
#     "fully masked row nan",
#     "padding mask makes the loss nan",
#     "attention weights nan after softmax",
#     "nan weights after one step",
#     "transformer outputs nan for padded positions",
#     "loss nan from the first step with left padded prompts",
#     "nan appears only when batch contains short sequences",
#     "batch size 1 works, padded batch gives nan",
#     "sliding window plus padding mask gives nan",
#     "switching from eager attention to sdpa makes loss nan",
#     "some rows of attention output are not numbers",
#     "first tokens attend to nothing and become nan",
#     "generation with left padding returns nan logits",
#     "nan after attention only for the pad queries",
#     "cross attention with nothing to attend to is nan",
#     "model weights all nan after the first update",
# ]
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
# F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
# '''
# right = '''
# mask = mask | ~mask.any(-1, keepdim=True)  # a query without keys attends to all
# F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
# '''
# fix = "attention.attention_mask"
# requires = ">=2.0"
# affected = { cpu = ">=2.0,<2.5" }
# ///
"""A padded query, whose keys are all masked, comes out as NaN, as does its gradient.

The scores of the row are all -inf, and softmax() of them is NaN (pytorch#103749). The
fix returns zeros for such rows (pytorch#131060, pytorch#133882).
"""

import torch
import torch.nn.functional as F


def attend(device, guard):
    q = torch.ones(1, 1, 2, 8, device=device, requires_grad=True)
    k = v = torch.ones(1, 1, 3, 8, device=device)
    mask = torch.tensor([[True, True, False], [False, False, False]], device=device)
    if guard:
        mask = mask | ~mask.any(-1, keepdim=True)
    y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    y.sum().backward()
    if y[..., 1, :].isnan().all() and q.grad[..., 1, :].isnan().all():
        return "output and gradient of the masked row are nan"


def reproduce(device):
    return attend(device, guard=False)


def control(device):
    return attend(device, guard=True)


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
