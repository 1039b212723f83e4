# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "x.device == torch.device('cuda') is False for a tensor on the GPU"
# kind = "silent"
# symptom = "tensor on .*, compared with .*: False"
# origin = "design"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/115405",
#     "https://github.com/datalab-to/surya/issues/500",
# ]
# documents = ["https://github.com/dynamiqs/dynamiqs/pull/337"]
# wrong = '''
# same = x.device == torch.device(gpu)
# '''
# right = '''
# same = x.device == torch.empty(0, device=gpu).device
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# stand_in = { cpu = "cpu:0 for cuda: a tensor that is created there reports cpu" }
# ///
"""The device "cuda" means the current GPU and has no index, but a tensor created on it reports the
index. Two devices are equal only if their indices are equal (pytorch#115405). The comparison
x.device == "cuda" is False too, because a device never equals a string.

The device of a tensor that is created on `gpu` has the index, even if `gpu` is a string. Comparing
only the types would treat cuda:0 and cuda:1 as the same device.
"""

import torch


def start(device):
    gpu = "cpu:0" if device == "cpu" else device
    return gpu, torch.ones(1, device=gpu)


def check(same, x, gpu):
    if not same:
        return f"tensor on {x.device}, compared with {gpu}: False"


def reproduce(device):
    gpu, x = start(device)
    same = x.device == torch.device(gpu)
    return check(same, x, gpu)


def control(device):
    gpu, x = start(device)
    same = x.device == torch.empty(0, device=gpu).device
    if x.to("meta").device == torch.empty(0, device=gpu).device:
        return "the meta device is the same too"
    return check(same, x, gpu)


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
