# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Fused SGD on the CPU applies a gradient of another layout to the wrong weights"
# kind = "silent"
# symptom = "stepped by the transposed gradient"
# keywords = [
#     "fused optimizer gives different weights than the plain one",
#     "fused=True training goes wrong on the CPU",
#     "weights updated with the wrong gradient elements",
#     "results differ between fused and non-fused SGD",
#     "channels last or transposed weights train wrongly with fused",
#     "model does not converge with fused=True on cpu",
#     "setting .grad by hand gives a wrong step",
#     "transposed gradient assigned, weights change in the wrong places",
#     "loss gets worse only with the fused optimizer",
#     "cpu fused SGD mismatch with foreach",
# ]
# origin = "torch"
# documents = [
#     "https://docs.pytorch.org/docs/stable/autograd.html#default-gradient-layouts",
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/aten/src/ATen/native/cpu/FusedSGDKernel.cpp",
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/csrc/autograd/functions/accumulate_grad.h",
#     "https://github.com/pytorch/pytorch/issues/106951",
# ]
# upstream = "unreported"
# wrong = '''
# (weight.grad,) = torch.autograd.grad((weight * x.t()).sum(), weight)
# torch.optim.SGD([weight], lr=1.0, fused=True).step()
# '''
# right = '''
# torch.optim.SGD([weight], lr=1.0, fused=False).step()
# '''
# fix = "numerics.clip_or_skip"
# requires = ">=2.4"
# affected = { cpu = ">=2.4", cuda = "never" }
# ///
"""With fused=True weights are stepped by the gradients of others where the
strides of parameter and gradient differ; with fused=False (control) the step is right.

The kernel makes a contiguous copy of the gradient, leaves it unused and walks over the
memory of the original (aten/src/ATen/native/cpu/FusedSGDKernel.cpp). backward() gives a
gradient the layout of its parameter unless the user chose one (docs: Default gradient
layouts); torch.autograd.grad() does not. To PyTorch a gradient of another layout "is not
an error" (torch/csrc/autograd/functions/accumulate_grad.h). On CUDA fused SGD refuses
it (aten/src/ATen/native/cuda/FusedSgdKernel.cu), as fused Adam does (pytorch#106951;
not measured here).
"""

import torch


def step(device, fused):
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], device=device)
    weight = torch.zeros(2, 2, device=device, requires_grad=True)
    (weight.grad,) = torch.autograd.grad((weight * x.t()).sum(), weight)
    try:
        torch.optim.SGD([weight], lr=1.0, fused=fused).step()
    except RuntimeError as error:
        if "check_fast_path_restrictions" not in str(error):
            raise
        return None  # refused: nothing silent about that
    if torch.equal(weight, -x):  # and not -x.t()
        return "stepped by the transposed gradient"


def reproduce(device):
    return step(device, fused=True)


def control(device):
    return step(device, fused=False)


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
