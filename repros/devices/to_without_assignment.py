# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "x.to(device) on a tensor has no effect if the result is not assigned"
# kind = "error"
# symptom = "(?:Expected all tensors to be on the same device|is not on the expected device|Passed CPU tensor to MPS op)"
# messages = [
#     "Expected all tensors to be on the same device",
#     "is not on the expected device",
# ]
# elsewhere = [
#     "found at least two devices",
#     "but expected them to be on GPU \\(while checking arguments",
#     "stft input and window must be on the same device",
#     'expected (?:backend|device) \w{3,4} and dtype \w{3,8} but got (?:backend|device) \w{3,4} and dtype',
#     "Passed CPU tensor to MPS op",
#     "expected condition, x and y to be on the same device",
#     "Expected tensor to have (?:CPU|CUDA) Backend, but got tensor with",
#     '[Ee]xpected device \w{3,4}.{0,4}? but got device',
#     'Input type \((?:torch\.|CPU)\w{1,20}\) and weight type \((?:torch\.cuda\.|CUDA|MPS)\w{1,20}\) should be the same',
#     "Tensor for argument input is on cpu but expected on mps",
#     "slow_conv2d_forward_mps: input\\(device='cpu'\\) and weight\\(device='?mps",
#     "Placeholder storage has not been allocated on MPS device",
# ]
# origin = "usage"
# reports = ["https://github.com/huggingface/accelerate/issues/2251"]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.Tensor.to.html",
#     "https://github.com/pytorch/pytorch/issues/14068",
# ]
# wrong = '''
# x.to(device)
# '''
# right = '''
# x = x.to(device)
# '''
# rule = "error"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# stand_in = { cpu = "the meta device for a GPU: its tensors do not mix with CPU tensors either" }
# ///
"""The batch is still on the CPU. A module's to() changes the module, but a tensor's to() returns a
moved tensor and leaves the original unchanged (docs: torch.Tensor.to).

In a loop over a list or a dict, x = x.to(device) rebinds only the loop variable. Instead, build a
new list or dict of the moved tensors, as in {key: x.to(device) for key, x in batch.items()}. If you
need x.grad, move x first and call requires_grad_() on the result. If x requires grad, the result of
to() is not a leaf, and requires_grad_() does not make it a leaf (docs: torch.Tensor.is_leaf).
"""

import torch


def start(device):
    device = "meta" if device == "cpu" else device
    return device, torch.nn.LayerNorm(3).to(device), torch.ones(2, 3)


def run(model, x):
    try:
        output = model(x)
    except RuntimeError as error:
        return str(error)
    if output.device != model.weight.device:
        return f"the output is on {output.device}"


def reproduce(device):
    device, model, x = start(device)
    x.to(device)
    return run(model, x)


def control(device):
    device, model, x = start(device)
    x = x.to(device)
    return run(model, x)


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
