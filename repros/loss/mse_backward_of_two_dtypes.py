# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "huber_loss, binary_cross_entropy and (before 2.12) mse_loss fail for a target of another dtype"
# kind = "error"
# symptom = "Found dtype Double but expected Float"
# messages = [
#     "Found dtype (?:Double|Float|Long|Half|BFloat16) but expected (?:Float|Double|Half|BFloat16)",
# ]
# origin = "torch"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/36553",
#     "https://github.com/pytorch/pytorch/issues/94086",
# ]
# documents = [
#     "https://github.com/pytorch/pytorch/pull/175743",
#     "https://github.com/pytorch/pytorch/issues/76646",
# ]
# wrong = '''
# loss = torch.nn.functional.huber_loss(prediction, target)
# loss.backward()
# '''
# right = '''
# loss = torch.nn.functional.huber_loss(prediction, target.to(prediction.dtype))
# loss.backward()
# '''
# affected = { cpu = ">=1.13" }
# ///
"""The forward pass accepts an integer target, or a float64 target (float64 is NumPy's default), but
backward() raises an error. With binary_cross_entropy the error already occurs in the forward pass.

The forward pass of mse_loss computes in the common dtype of both tensors. Until torch 2.12
(pytorch#175743), its backward pass (aten/src/ATen/native/Loss.cpp) did not convert the gradient
back (pytorch#94086). In 2.15, the backward pass of huber_loss (pytorch#76646) still does not
convert it.

The corrected code limits the target to the prediction's range and precision: 100000 becomes inf in
float16, and 257 becomes 256 in bfloat16. With these dtypes, use prediction.float() and
target.float() instead.
"""

import torch
from torch.nn import functional


def start(device, given=torch.float32, wanted=torch.float64):
    prediction = torch.full((2,), 0.5, device=device, dtype=given, requires_grad=True)
    return prediction, torch.ones(2, device=device, dtype=wanted)


def raised(loss_of, prediction, target):
    try:
        loss_of(prediction, target).backward()
    except RuntimeError as error:
        return str(error)


def reproduce(device):
    losses = functional.huber_loss, functional.binary_cross_entropy, functional.mse_loss
    found = [raised(loss_of, *start(device)) for loss_of in losses]
    mse_raises = tuple(map(int, torch.__version__.split(".")[:2])) < (2, 12)
    if None in found[:2] or (found[2] is not None) != mse_raises:
        return f"they raise: {found}"
    return found[0]


def control(device):
    prediction, target = start(device)
    loss = torch.nn.functional.huber_loss(prediction, target.to(prediction.dtype))
    loss.backward()
    if prediction.grad.dtype != torch.float32 or prediction.grad.tolist() != [-0.25, -0.25]:
        return f"the gradient is {prediction.grad}"


def messages(device):
    pairs = [(torch.float64, torch.float32)]
    pairs += [(torch.float32, kind) for kind in (torch.int64, torch.float16, torch.bfloat16)]
    pairs += [(kind, torch.float32) for kind in (torch.float16, torch.bfloat16)]
    return "\n".join(raised(functional.huber_loss, *start(device, *pair)) for pair in pairs)


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
