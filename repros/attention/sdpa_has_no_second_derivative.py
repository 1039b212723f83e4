# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Gradient penalties, MAML and Hessians fail with scaled_dot_product_attention if dropout_p is 0"
# kind = "error"
# symptom = "derivative for aten::_scaled_dot_product_flash_attention_for_cpu_backward is not implemented"
# messages = [
#     "derivative for aten::_scaled_dot_product_\\w{1,60}_backward is not implemented",
#     "Trying to use forward AD with _scaled_dot_product_\\w{1,60} that does not support it",
# ]
# origin = "design"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/116350",
#     "https://github.com/learnables/learn2learn/issues/429",
#     "https://github.com/huggingface/diffusers/issues/5678",
# ]
# documents = ["https://docs.pytorch.org/docs/stable/generated/torch.nn.attention.sdpa_kernel.html"]
# wrong = '''
# y = torch.nn.functional.scaled_dot_product_attention(q, k, v)
# '''
# right = '''
# from torch.nn.attention import SDPBackend, sdpa_kernel
# with sdpa_kernel(SDPBackend.MATH):
#     y = torch.nn.functional.scaled_dot_product_attention(q, k, v)
# '''
# requires = ">=2.3"
# affected = { cpu = ">=2.3" }
# ///
"""A backward pass through the gradient raises an error, whereas it works with hand-written
attention (huggingface/diffusers#5678). Both torch.func.hessian() and jvp() raise an error in the
forward pass, because the kernels do not support forward-mode differentiation either.

The fused kernels have no second derivative, which is a known gap (pytorch#116350). On the CPU, the
flash attention kernel lacks this derivative. The CPU does not use that kernel if dropout_p is above
0 or the mask requires grad. Nor does it use the kernel if the inputs have two dimensions (on 2.13,
also three), or if the values and the queries differ in width. On CUDA, the memory-efficient kernel
lacks the derivative too (learnables/learn2learn#429; not measured). The math backend has the
derivative (control). With activation checkpointing, the sdpa_kernel() block must be inside the
checkpointed function.
"""

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel


def start(device):
    q = torch.linspace(-1, 1, 32, device=device).reshape(1, 1, 4, 8).requires_grad_()
    return q, q * 0.5, q.square()


def penalty(q, y):
    (gradient,) = torch.autograd.grad(y.square().sum(), q, create_graph=True)
    return torch.autograd.grad(gradient.square().sum(), q, retain_graph=True)[0]


def reproduce(device):
    q, k, v = start(device)
    y = torch.nn.functional.scaled_dot_product_attention(q, k, v)
    try:
        penalty(q, y)
    except RuntimeError as error:
        return str(error)


def control(device):
    q, k, v = start(device)
    with sdpa_kernel(SDPBackend.MATH):
        y = torch.nn.functional.scaled_dot_product_attention(q, k, v)
    by_hand = (q @ k.mT / 8**0.5).softmax(dim=-1) @ v
    if not torch.allclose(penalty(q, y), penalty(q, by_hand), rtol=1e-3, atol=1e-3):
        return "the second derivative is not that of attention by hand"


def messages(device):
    q, k, v = start(device)
    attend = torch.nn.functional.scaled_dot_product_attention
    try:
        torch.func.hessian(lambda q: attend(q, k, v).sum())(q)
    except NotImplementedError as error:
        return f"{reproduce(device)}\n{error}"


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
