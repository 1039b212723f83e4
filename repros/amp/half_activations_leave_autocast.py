# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A float32 Linear outside autocast fails if its input comes from a Linear inside an autocast block"
# kind = "error"
# symptom = "same dtype"
# origin = "usage"
# documents = [
#     "https://docs.pytorch.org/docs/stable/amp.html#torch.autocast",
#     "https://github.com/ucla-mobility/V2V4Real/pull/30",
# ]
# wrong = '''
# with torch.autocast(x.device.type, dtype=torch.bfloat16):
#     features = backbone(x)
# output = head(features)
# '''
# right = '''
# with torch.autocast(x.device.type, dtype=torch.bfloat16):
#     features = backbone(x)
# output = head(features.float())
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13" }
# ///
"""The 16-bit results of autocast stay 16-bit after the block ends, and the next layer does not
convert them (docs: torch.autocast, ucla-mobility/V2V4Real#30). Conv2d, LSTM and MultiheadAttention
raise an error, as Linear does. On the CPU, BatchNorm2d accepts the 16-bit results and keeps their
dtype. LayerNorm and GroupNorm do so too, except in 1.13, where they raise an error.

Outside the block, some losses raise "Found dtype Float but expected BFloat16" for a 16-bit output
and a float32 target. These losses are huber_loss and binary_cross_entropy on all releases, and
mse_loss on 1.13 and 2.3. Calling float() fixes this error too.
"""

import torch


def start(device):
    backbone, head = torch.nn.Linear(3, 3).to(device), torch.nn.Linear(3, 2).to(device)
    return backbone, head, torch.ones(2, 3, device=device)


def reproduce(device):
    backbone, head, x = start(device)
    try:
        with torch.autocast(x.device.type, dtype=torch.bfloat16):
            features = backbone(x)
        output = head(features)
    except RuntimeError as error:
        return str(error)
    return check(output, head(backbone(x)))


def control(device):
    backbone, head, x = start(device)
    with torch.autocast(x.device.type, dtype=torch.bfloat16):
        features = backbone(x)
    output = head(features.float())
    return check(output, head(backbone(x)))


def check(output, expected):
    off = (output - expected).abs().max().item()
    if output.dtype != torch.float32 or off > 0.1:
        return f"the output is {output.dtype}, and off by {off:.1g} from float32"


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
