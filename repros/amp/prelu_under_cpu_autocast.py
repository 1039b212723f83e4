# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "PReLU after a Linear or a convolution fails under CPU autocast"
# kind = "error"
# symptom = "prelu: Type promoting not supported"
# messages = ["prelu: Type promoting not supported"]
# origin = "torch"
# reports = ["https://github.com/pytorch/pytorch/issues/95365"]
# documents = ["https://github.com/pytorch/pytorch/pull/95366"]
# fixed_by = "pytorch#95366"
# wrong = '''
# with torch.autocast(device, torch.bfloat16):
#     output = prelu(linear(x))
# '''
# right = '''
# with torch.autocast(device, torch.bfloat16):
#     output = prelu(linear(x).float())
# '''
# fix = "upgrade"
# affected = { cpu = ">=2.0,<2.1" }
# ///
"""In torch 2.0, a model with PReLU fails under CPU autocast; 1.13 runs the same model, unless its
LayerNorm or GroupNorm fails there (see amp/half_weights_meet_a_float_input).

Under autocast, Linear and convolutions return bfloat16, and a norm after one of these layers does
too. However, PReLU's weight is float32. PReLU works after a norm whose input is float32. Before
2.0, prelu() itself cast the weight, but the version rewritten for 2.0 rejects mixed dtypes.
Autocast casts both tensors on CUDA, and on the CPU since prelu was added to the CPU list
(pytorch#95366).

Without autocast, mixed dtypes raise the same error in later releases too. For example, if a module
was converted to bfloat16 and its input is float32, pass x.to(prelu.weight.dtype).
"""

import torch


def start(device):
    linear, prelu = torch.nn.Linear(4, 4).to(device), torch.nn.PReLU().to(device)
    return linear, prelu, torch.ones(2, 4, device=device)


def reproduce(device):
    linear, prelu, x = start(device)
    try:
        with torch.autocast(device, torch.bfloat16):
            output = prelu(linear(x))
    except RuntimeError as error:
        if "Type promoting not supported" not in str(error):
            raise
        return str(error)
    return check(output, prelu(linear(x)))


def control(device):
    linear, prelu, x = start(device)
    with torch.autocast(device, torch.bfloat16):
        output = prelu(linear(x).float())
    return check(output, prelu(linear(x)))


def check(output, expected):
    if (output - expected).abs().max() > 0.1:
        return "the output is off from float32"


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
