# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Fused optimizers on the CPU apply a gradient with a different layout to the wrong weights"
# kind = "silent"
# symptom = "stepped by a gradient whose elements are permuted"
# origin = "torch"
# documents = [
#     "https://docs.pytorch.org/docs/stable/autograd.html#default-gradient-layouts",
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/aten/src/ATen/native/cpu/FusedSGDKernel.cpp",
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/csrc/autograd/functions/accumulate_grad.h",
#     "https://github.com/pytorch/pytorch/issues/106951",
# ]
# upstream = "unreported"
# wrong = '''
# optimizer = torch.optim.SGD(model.parameters(), lr=0.1, fused=True)
# gradients = torch.autograd.grad(loss, list(model.parameters()))
# for parameter, gradient in zip(model.parameters(), gradients):
#     parameter.grad = gradient
# optimizer.step()
# '''
# right = '''
# optimizer = torch.optim.SGD(model.parameters(), lr=0.1, fused=True)
# gradients = torch.autograd.grad(loss, list(model.parameters()))
# for parameter, gradient in zip(model.parameters(), gradients):
#     parameter.grad = torch.empty_like(parameter).copy_(gradient)
# optimizer.step()
# '''
# fix = "numerics.clip_or_skip"
# use = '''
# from numerics import clip_or_skip
# optimizer = torch.optim.SGD(model.parameters(), lr=0.1, fused=True)
# gradients = torch.autograd.grad(loss, list(model.parameters()))
# for parameter, gradient in zip(model.parameters(), gradients):
#     parameter.grad = gradient
# clip_or_skip(optimizer, max_norm=float("inf"))
# '''
# choice = "The lines without the fix copy each gradient; the fix copies only gradients with a different layout, and skips a step whose gradients contain inf or NaN"
# requires = ">=2.4"
# affected = { cpu = ">=2.4", cuda = "never" }
# ///
"""If the strides of a parameter and its gradient differ, fused=True updates weights with the
gradients of other weights. The strides differ, for example, for a convolution after channels_last
images. With fused=False, or with a copy in the parameter's layout (control), the step is right.
Fused Adam, AdamW and Adagrad fail too.

The kernel makes a contiguous copy of the gradient, but ignores the copy and walks over the memory
of the original (aten/src/ATen/native/cpu/FusedSGDKernel.cpp). backward() gives a gradient its
parameter's layout unless the user chose another layout (docs: Default gradient layouts);
torch.autograd.grad() does not ensure this. According to PyTorch's source, a gradient with another
layout "is not an error" (torch/csrc/autograd/functions/accumulate_grad.h). On CUDA, fused SGD
rejects such a gradient (aten/src/ATen/native/cuda/FusedSgdKernel.cu), as fused Adam does
(pytorch#106951; not measured here).

The kernel walks over the optimizer's state in the same way. If momentum and averages were made or
loaded before model.to(memory_format=torch.channels_last), they then belong to other weights, and
the corrected lines do not change that. Convert the model before the first step. If state is loaded
from a model with a different layout, it needs torch.empty_like(parameter).copy_(...) too.

The corrected lines need a parameter without gaps in memory. The gradient of a slice of a larger
tensor always has different strides. A fused step on the CPU then treats the whole memory as the
parameter, and overwrites the values between its elements.
"""

import torch


def start(device):
    model = torch.nn.Conv2d(2, 1, 2).to(device)
    torch.nn.init.zeros_(model.weight)
    x = torch.arange(18.0, device=device).view(1, 2, 3, 3).to(memory_format=torch.channels_last)
    return model, model(x).sum()


def assign(model, loss):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, fused=True)
    gradients = torch.autograd.grad(loss, list(model.parameters()))
    for parameter, gradient in zip(model.parameters(), gradients):
        parameter.grad = gradient
    optimizer.step()


def copy(model, loss):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, fused=True)
    gradients = torch.autograd.grad(loss, list(model.parameters()))
    for parameter, gradient in zip(model.parameters(), gradients):
        parameter.grad = torch.empty_like(parameter).copy_(gradient)
    optimizer.step()


def check(device, step):
    model, loss = start(device)
    try:
        step(model, loss)
    except RuntimeError as error:
        if "check_fast_path_restrictions" not in str(error):
            raise
        return None  # refused: nothing silent about that
    seen = (model.weight.detach() / -0.1).flatten()
    # Sums over the four windows of 0 to 8, then of 9 to 17.
    expected = torch.tensor([8.0, 12, 20, 24, 44, 48, 56, 60], device=device)
    if torch.allclose(seen, expected):
        return None
    if torch.allclose(seen.sort().values, expected):
        return "stepped by a gradient whose elements are permuted"
    return f"stepped by {seen.tolist()}"


def reproduce(device):
    return check(device, assign)


def control(device):
    return check(device, copy)


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
