# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A NaN in the grid crashes the backward of grid_sample with border padding"
# kind = "crash"
# symptom = "SIGSEGV in (?:_engine_run_)?backward"
# keywords = [
#     "spatial transformer segmentation fault on the CPU",
#     "python dies without any message during backward",
#     "notebook kernel restarts when training a spatial transformer",
#     "process killed by signal 11 in image warping",
#     "core dumped when training optical flow on CPU",
#     "training crashes without traceback in registration network",
#     "random hard crash with grid sampling after loss is nan",
#     "works on GPU but dies on the CPU",
#     "deformable sampling crashes the interpreter",
#     "no exception, the program just ends in backward",
#     "view synthesis or warping model crashes the kernel",
# ]
# origin = "torch"
# documents = [
#     "https://github.com/pytorch/pytorch/issues/24823",
#     "https://github.com/pytorch/pytorch/issues/19826",
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.grid_sample.html",
#     "https://github.com/pytorch/pytorch/pull/42703",
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/aten/src/ATen/native/cpu/GridSamplerKernel.cpp",
# ]
# upstream = "unreported"
# wrong = '''
# y = torch.nn.functional.grid_sample(x, grid, padding_mode="border", align_corners=False)
# '''
# right = '''
# grid = torch.nan_to_num(grid)
# y = torch.nn.functional.grid_sample(x, grid, padding_mode="border", align_corners=False)
# '''
# affected = { cpu = ">=1.13" }
# platform = "linux"
# ///
"""The process dies in backward() where a NaN reaches the grid; without it, it does not.

NaN in the grid is to count as -1 (docs: torch.nn.functional.grid_sample). Its conversion
to an integer cannot handle it (pytorch#19826). The forward, which crashed too
(pytorch#24823), was changed to take NaN for 0 before that (pytorch#42703). The backward
clips with a function of its own, which keeps NaN
(aten/src/ATen/native/cpu/GridSamplerKernel.cpp).

On x86, NaN becomes column -2**31, which lies 8 GiB before the image, where nothing is
mapped. ARM, where it becomes 0, was not measured. The file ends by the signal then, not
with exit status 1.
"""

import torch


def sample(device, clean):
    x = torch.ones(1, 1, 5, 5, device=device, requires_grad=True)
    grid = torch.zeros(1, 5, 5, 2, device=device)
    grid[..., 0] = float("nan")  # the column
    grid = clean(grid)
    y = torch.nn.functional.grid_sample(x, grid, padding_mode="border", align_corners=False)
    y.sum().backward()


def reproduce(device):
    sample(device, lambda grid: grid)


def control(device):
    sample(device, torch.nan_to_num)


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
