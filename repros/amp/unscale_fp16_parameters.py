# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A model cast to half cannot be trained with a GradScaler"
# kind = "error"
# symptom = "Attempting to unscale FP16 gradients"
# messages = ["Attempting to unscale FP16 gradients"]
# origin = "usage"
# reports = ["https://github.com/pytorch/pytorch/issues/74739", "https://github.com/Lightning-AI/pytorch-lightning/issues/5140"]
# wrong = '''
# TODO
# '''
# fix = "amp.choose_precision"
# requires = ">=2.3"
# affected = { cpu = ">=2.3", cuda = ">=2.3", mps = ">=2.8" }
# ///
"""model.half() makes fp16 parameters and so fp16 gradients, which unscale_ refuses:
they would underflow or overflow.

Keep fp32 parameters and let autocast cast. Calling half() on the inputs as well changes
nothing.
"""

import torch


def step(device, dtype):
    scaler = torch.amp.GradScaler(device)
    weight = torch.ones(2, device=device, dtype=dtype, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=0.1)
    scaler.scale(weight.sum()).backward()
    try:
        scaler.unscale_(optimizer)
    except ValueError as error:
        return str(error)


def reproduce(device):
    return step(device, torch.float16)


def control(device):
    return step(device, torch.float32)


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
