# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A float16 Linear fails on the CPU before torch 2.2"
# kind = "error"
# symptom = "not implemented for 'Half'"
# messages = [
#     "addmm_impl_cpu_. not implemented for .Half",
#     "slow_conv2d_cpu. not implemented for .Half",
#     "LayerNormKernelImpl. not implemented for .Half",
#     "softmax_lastdim_kernel_impl. not implemented for .Half",
#     "GeluKernelImpl. not implemented for .Half",
#     "upsample_nearest2d_channels_last. not implemented for .Half",
#     "compute_indices_weights_\\w{4,10}. not implemented for .Half",
#     "sigmoid_cpu. not implemented for .Half",
#     "silu_cpu. not implemented for .Half",
#     "clamp_min_cpu. not implemented for .Half",
#     "max_pool2d. not implemented for .Half",
#     "batch_norm. not implemented for .Half",
#     "rsqrt_cpu. not implemented for .Half",
# ]
# elsewhere = [
#     "baddbmm_with_gemm. not implemented for .Half",
#     "clamp_min_scalar_cpu. not implemented for .Half",
#     "RsqrtKernelImpl. not implemented for .Half",
# ]
# origin = "torch"
# reports = [
#     "https://github.com/huggingface/transformers/issues/27769",
#     "https://github.com/bigscience-workshop/petals/issues/432",
#     "https://github.com/zai-org/VisualGLM-6B/issues/30",
# ]
# documents = [
#     "https://github.com/pytorch/pytorch/pull/99498",
#     "https://github.com/pytorch/pytorch/issues/52291",
# ]
# fixed_by = "pytorch#99498"
# wrong = '''
# model.half()
# output = model(x.half())
# '''
# right = '''
# model.float()
# output = model(x.float())  # token numbers stay as they are
# '''
# fix = "upgrade"
# affected = { cpu = "<2.2" }
# ///
"""The weights load, but the first layer raises an error, because the CPU lacked many float16
operations (pytorch#52291). Tensors could be added or averaged, but not multiplied as matrices.
pytorch#99498 added matrix products, and in 2.3 all of the layers tried here run. Losses, cdist()
and other functions gained float16 support later or still lack it (see
amp/cdist_of_half_on_the_cpu).

In float32, the model computes with exactly the numbers that were loaded, but uses twice the memory
(zai-org/VisualGLM-6B#30). A conversion to bfloat16 needs no additional memory, but rounds the
weights to 8 significant bits (bigscience-workshop/petals#432). An Embedding expects integers
whatever its own dtype is, and raises an error if float() has converted them.
"""

import torch
import torch.nn.functional as F


def start(device):
    model = torch.nn.Linear(3, 2).to(device)
    return model.half(), torch.tensor([[1.0, 0.5, -2.0]], device=device)


def reproduce(device):
    model, x = start(device)
    try:
        model.half()
        output = model(x.half())
    except RuntimeError as error:
        return str(error)
    if output.dtype != torch.float16:
        return f"the output is {output.dtype}"


def control(device):
    model, x = start(device)
    weight, bias = (each.double() for each in model.parameters())
    model.float()
    output = model(x.float())
    off = (output - (x.double() @ weight.T + bias)).abs().max().item()
    if off > 1e-5:
        return f"the output is off by {off:.1g}"


def messages(device):
    x = torch.ones(1, 1, 4, 4, dtype=torch.float16, device=device)
    weight = torch.ones(1, 1, 3, 3, dtype=torch.float16, device=device)
    ones = torch.ones(1, dtype=torch.float16, device=device)
    calls = (
        lambda: F.conv2d(x, weight),
        lambda: F.layer_norm(x, (4,)),
        lambda: F.softmax(x, -1),
        lambda: F.gelu(x),
        lambda: F.interpolate(x, scale_factor=2),
        lambda: F.interpolate(x, scale_factor=2, mode="bicubic"),
        lambda: torch.sigmoid(x),
        lambda: F.silu(x),
        lambda: F.relu(x),
        lambda: F.max_pool2d(x, 2),
        lambda: F.batch_norm(x, ones, ones),
        lambda: torch.rsqrt(x),
    )
    texts = []
    for call in calls:
        try:
            call()
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
