# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Module.share_memory crashes where a gradient came from torch.sgn"
# kind = "crash"
# symptom = "SIGSEGV"
# origin = "torch"
# documents = [
#     "https://github.com/pytorch/pytorch/issues/89034",
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/nn/modules/module.py",
# ]
# upstream = "unreported"
# wrong = '''
# torch.sgn(model.weight).sum().backward()
# model.share_memory()
# '''
# right = '''
# torch.sign(model.weight).sum().backward()
# model.share_memory()
# '''
# affected = { cpu = ">=2.1" }
# ///
"""The process dies when a model is put into shared memory after a backward pass.

share_memory() moves the gradients too (torch/nn/modules/module.py). The gradient of sgn
is a ZeroTensor (pytorch#89034), which has no memory to be copied. Before 2.1 this was an
error. Reading torch.from_dlpack(gradient) crashes as well.
"""

import torch


def share(device, sign):
    model = torch.nn.PReLU(1).to(device)
    sign(model.weight).sum().backward()
    try:
        model.share_memory()
    except NotImplementedError:  # "bindings to nullptr storage ... are currently unsafe"
        return None


def reproduce(device):
    return share(device, torch.sgn)


def control(device):
    return share(device, torch.sign)


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
