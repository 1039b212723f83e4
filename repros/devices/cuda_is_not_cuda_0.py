# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A tensor on the GPU is not on torch.device('cuda'): the comparison is False"
# kind = "silent"
# symptom = "tensor on .*:0, compared with .*: False"
# keywords = [
#     "torch.device cuda and cuda:0 are not equal",
#     "device comparison always False",
#     "if x.device == device never true",
#     "branch for the GPU is never taken",
#     "tensor is on cuda:0 and the check for cuda fails",
#     "my check whether the tensor is on the GPU fails",
#     "code takes CPU path although data are on GPU",
#     "assert device equal fails although both are cuda",
#     "model is copied to the GPU again in each step",
#     "comparison says devices differ, yet there is only one GPU",
#     "slow because tensors get moved every iteration unnecessarily",
#     "why is cuda not the same as cuda:0",
#     "if statement for gpu never runs",
#     "cache lookup by device misses every time",
#     "unit test on device equality fails on GPU",
#     "function falls back to slow path on cuda",
# ]
# origin = "design"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/115405",
#     "https://github.com/datalab-to/surya/issues/500",
# ]
# documents = ["https://github.com/dynamiqs/dynamiqs/pull/337"]
# wrong = '''
# same = where == torch.device(gpu)
# '''
# right = '''
# same = where.type == torch.device(gpu).type
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# stand_in = { cpu = "the two names of a GPU, which needs no GPU" }
# ///
"""device="cuda" means the current GPU and has no index; the tensor made there reports the
index, and two devices are equal only if their indices are (pytorch#115405).

Compare the type, or give the index everywhere.
"""

import torch


def compare(device, by_type):
    if device == "cpu":
        gpu, where = "cuda", torch.device("cuda:0")
    else:
        gpu, where = device, torch.ones(1, device=device).device
    if by_type:
        same = where.type == torch.device(gpu).type
    else:
        same = where == torch.device(gpu)
    if not same:
        return f"tensor on {where}, compared with {gpu}: False"


def reproduce(device):
    return compare(device, by_type=False)


def control(device):
    return compare(device, by_type=True)


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
