# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A NaN in the grid crashes the backward pass of bilinear grid_sample on the CPU, with border or reflection padding"
# kind = "crash"
# symptom = "SIGSEGV in (?:_engine_run_)?backward"
# origin = "torch"
# reports = ["https://github.com/pytorch/pytorch/issues/24823"]
# documents = [
#     "https://github.com/pytorch/pytorch/issues/19826",
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.grid_sample.html",
#     "https://github.com/pytorch/pytorch/pull/42703",
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/aten/src/ATen/native/cpu/GridSamplerKernel.cpp",
# ]
# wrong = '''
# y = torch.nn.functional.grid_sample(x, grid, padding_mode="border", align_corners=False)
# '''
# right = '''
# grid = grid.nan_to_num(-1, 1, -1)  # of NaN, of inf, of -inf
# y = torch.nn.functional.grid_sample(x, grid, padding_mode="border", align_corners=False)
# '''
# affected = { cpu = ">=1.13" }
# platform = "linux"
# ///
"""The process dies in backward() if a column or a row coordinate in the grid is NaN, but survives
without the NaN (pytorch#24823). If both coordinates are NaN, images of 4 by 4 and 64 by 64 cause a
crash too. An image of 5 by 5, by contrast, gets a NaN gradient. On 1.13 and 2.15, there was no
crash with zero padding, with the nearest and bicubic modes, or for volumes. On 2.13 and 2.15, there
was no crash with bfloat16 or float16. The same crash occurs if only the grid requires grad.

A NaN in the grid should count as -1 (docs: torch.nn.functional.grid_sample), but the conversion to
an integer cannot handle NaN (pytorch#19826). The forward pass, which used to crash too, now clips
NaN to the edge (which -1 stands for) before the conversion (pytorch#42703). The backward pass has
its own clipping function, which preserves NaN (aten/src/ATen/native/cpu/GridSamplerKernel.cpp).

With reflection padding, an infinity causes a crash too. The corrected code moves an infinity to the
edge, where border padding puts it anyway. This code prevents the crash, but does not remove the
NaN: if the NaN comes from 0 / 0, the weights before that division still get NaN gradients.

On x86, NaN becomes column -2**31. This column is 8 GiB before the image, where no memory is mapped.
The process is then killed by a signal instead of exiting with status 1. ARM, where NaN becomes 0,
has not been measured.
"""

import torch


def start(device):
    x = torch.arange(25.0, device=device).reshape(1, 1, 5, 5).requires_grad_()
    grid = torch.zeros(1, 5, 5, 2, device=device)
    grid[..., 0] = float("nan")  # the column
    return x, grid


def check(x, y):
    if not y.eq(10).all():
        return f"the value is {y.max().item()} instead of 10, the first of the middle row"
    y.sum().backward()
    if x.grad[0, 0, 2, 0] != 25 or x.grad.sum() != 25:
        return "the gradient is not that of the first column"


def reproduce(device):
    x, grid = start(device)
    y = torch.nn.functional.grid_sample(x, grid, padding_mode="border", align_corners=False)
    return check(x, y)


def control(device):
    x, grid = start(device)
    grid = grid.nan_to_num(-1, 1, -1)
    y = torch.nn.functional.grid_sample(x, grid, padding_mode="border", align_corners=False)
    if seen := check(x, y):
        return seen
    grid[..., 0] = float("inf")
    grid = grid.nan_to_num(-1, 1, -1)
    y = torch.nn.functional.grid_sample(x, grid, padding_mode="reflection", align_corners=False)
    y.sum().backward()  # without the line it ends the process as well


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
