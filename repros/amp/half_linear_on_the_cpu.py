# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A float16 layer raises on the CPU before torch 2.2"
# kind = "error"
# symptom = "not implemented for 'Half'"
# messages = [
#     "(?:addmm_impl_cpu_|slow_conv2d_cpu|LayerNormKernelImpl|softmax_lastdim_kernel_impl|GeluKernelImpl|baddbmm_with_gemm|nll_loss_out_frame|upsample_nearest2d_channels_last|compute_indices_weights_\\w{4,10}|sigmoid_cpu|silu_cpu|clamp_min_scalar_cpu|max_pool2d|batch_norm|binary_cross_entropy|RsqrtKernelImpl|rsqrt_cpu|log_softmax_lastdim_kernel_impl). not implemented for .Half",
# ]
# keywords = [
#     "fp16 model on CPU",
#     "float16 inference on a Mac or without a GPU",
#     "model.half() on cpu",
#     "load a half precision checkpoint on CPU",
#     "half precision model does not run without GPU",
#     "fp16 checkpoint on my laptop CPU fails",
#     "stable diffusion on CPU fails in half",
#     "LLM in half precision on CPU does not work",
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
# model = torch.nn.Linear(3, 2).half()
# '''
# right = '''
# model = torch.nn.Linear(3, 2).bfloat16()
# '''
# fix = "upgrade"
# affected = { cpu = "<2.2" }
# ///
"""The weights load, and the first matrix product raises: float16 was there to be moved, not to
be computed with (pytorch#52291). Matrix products came with pytorch#99498.

bfloat16 works, and so does float32 (bigscience-workshop/petals#432).
"""

import torch


def predict(device, dtype):
    model = torch.nn.Linear(3, 2).to(device)
    model = model.half() if dtype == torch.float16 else model.bfloat16()
    try:
        model(torch.ones(2, 3, dtype=dtype, device=device))
    except RuntimeError as error:
        return str(error)


def reproduce(device):
    return predict(device, torch.float16)


def control(device):
    return predict(device, torch.bfloat16)


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
