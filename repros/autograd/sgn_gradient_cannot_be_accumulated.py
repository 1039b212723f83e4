# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "torch.sgn of a real leaf gives a gradient that cannot be accumulated, clipped or saved"
# kind = "error"
# symptom = "ZeroTensors are immutable"
# messages = [
#     "ZeroTensors are immutable",
#     "ZeroTensor is not serializable",
#     "Attempted to call copy_\\(\\) on an invalid python storage",
# ]
# origin = "torch"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/89034",
#     "https://github.com/pytorch/pytorch/issues/197067",
# ]
# documents = [
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/aten/src/ATen/ZeroTensorFallback.cpp",
#     "https://github.com/pytorch/pytorch/pull/164487",
# ]
# wrong = '''
# for _ in range(2):
#     torch.sgn(weight).sum().backward()
# '''
# right = '''
# for _ in range(2):
#     torch.sign(weight).sum().backward()
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13" }
# ///
"""The second backward() raises an error. No error occurs with torch.sign, which gives the same
values for real numbers. A complex leaf causes no error either, nor does a leaf that also
contributes to another term of the loss. The same is true of a leaf that reaches sgn through a
linear layer, tanh() or a slice.

The gradient of sgn is a ZeroTensor (pytorch#89034), which has no memory and cannot be changed.
backward() should store a regular tensor in .grad (point 5 of the design in
aten/src/ATen/ZeroTensorFallback.cpp), but stores the ZeroTensor. Calls to
zero_grad(set_to_none=False), clip_grad_norm_(), torch.save() and copy.deepcopy() raise errors too.
Module.share_memory() (since 2.1), reading torch.from_dlpack(gradient), and functions compiled by
inductor (pytorch#197067) cause a segmentation fault. The numpy() method returned uninitialized
memory (pytorch#89034) until pytorch#164487 made it raise an error.
"""

import copy
import io

import torch


def reproduce(device):
    weight = torch.ones(2, device=device, requires_grad=True)
    try:
        for _ in range(2):
            torch.sgn(weight).sum().backward()
    except RuntimeError as error:
        if "ZeroTensor" not in str(error):
            raise
        return str(error)


def control(device):
    weight = torch.tensor([-2.0, 0.0, 3.0], device=device, requires_grad=True)
    for _ in range(2):
        torch.sign(weight).sum().backward()
    if not torch.sign(weight).equal(torch.sgn(weight)):
        return "the sign is another"
    if copy.deepcopy(weight.grad).tolist() != [0, 0, 0]:
        return "the gradient is not zero"


def messages(device):
    weight, texts = torch.ones(2, device=device, requires_grad=True), []
    torch.sgn(weight).sum().backward()
    for use in (lambda g: g.zero_(), lambda g: torch.save(g, io.BytesIO()), copy.deepcopy):
        try:
            use(weight.grad)
        except RuntimeError as error:
            texts.append(str(error))
    return "\n".join(texts)


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
