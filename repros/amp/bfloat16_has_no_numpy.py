# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Calling numpy() on a bfloat16 tensor raises an error"
# kind = "error"
# symptom = "Got unsupported ScalarType BFloat16"
# messages = [
#     "Got unsupported ScalarType BFloat16",
#     "Got unsupported ScalarType Float8_\\w{4,8}",
# ]
# origin = "design"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/110285",
#     "https://github.com/xwying/torchshow/issues/23",
#     "https://github.com/guillaume-be/rust-bert/issues/392",
# ]
# documents = [
#     "https://github.com/locuslab/open-unlearning/pull/156",
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/csrc/utils/tensor_numpy.cpp",
# ]
# wrong = '''
# array = output.cpu().numpy()
# '''
# right = '''
# array = output.detach().cpu().float().numpy()
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=2.3" }
# ///
"""NumPy has no bfloat16 and no 8-bit floats, so numpy() rejects tensors of these dtypes
(pytorch#110285, torch/csrc/utils/tensor_numpy.cpp). The conversion with float() is exact, because
float32 can represent every number of these dtypes.
"""

import torch


def start(device):
    return torch.tensor([1.0, -2.5, 3e38], device=device, requires_grad=True).bfloat16()


def reproduce(device):
    output = start(device).detach()
    try:
        array = output.cpu().numpy()
    except TypeError as error:
        return str(error)
    return check(output, array)


def control(device):
    output = start(device)
    array = output.detach().cpu().float().numpy()
    return check(output, array)


def check(output, array):
    if array.tolist() != output.tolist():
        return f"the array is {array.tolist()} instead of {output.tolist()}"


def messages(device):
    if hasattr(torch, "float8_e4m3fn"):
        try:
            torch.ones(1).to(torch.float8_e4m3fn).numpy()
        except TypeError as error:
            return str(error)


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
