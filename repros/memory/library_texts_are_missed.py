# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Handlers that look for 'out of memory' miss the errors of cuBLAS, cuDNN and a MIG slice"
# kind = "error"
# symptom = "not recognised: cuBLAS, cuDNN, MIG"
# messages = ["CUBLAS_STATUS_ALLOC_FAILED", "CUDNN_STATUS_ALLOC_FAILED", "NVML_SUCCESS == .{0,200}?INTERNAL ASSERT FAILED"]
# origin = "usage"
# reports = ["https://github.com/huggingface/accelerate/issues/3803", "https://github.com/huggingface/accelerate/issues/4226"]
# wrong = '''
# TODO
# '''
# fix = "memory.is_out_of_memory"
# affected = { cpu = ">=1.13" }
# stand_in = { cpu = "the texts as public reports print them, raised by hand" }
# ///
"""Libraries that allocate for themselves report it in words of their own, as a plain
RuntimeError.

A handler by class, or by the words "out of memory", lets them through, and the run dies
where it should have retried. On a MIG slice the allocator trips over an assertion while
it asks the driver for the numbers of its message.
"""

import torch

TEXTS = {
    "cuBLAS": "CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
    "cuDNN": "cuDNN error: CUDNN_STATUS_ALLOC_FAILED",
    "MIG": 'NVML_SUCCESS == r INTERNAL ASSERT FAILED at "../c10/cuda/CUDACachingAllocator.cpp":1123',
}


def unrecognised(texts, recognise):
    missed = []
    for name, text in texts.items():
        try:
            raise RuntimeError(text)
        except RuntimeError as error:
            if not recognise(error):
                missed.append(name)
    if missed:
        return f"not recognised: {', '.join(missed)}"


def reproduce(device):
    return unrecognised(TEXTS, lambda error: isinstance(error, torch.cuda.OutOfMemoryError))


def control(device):
    return unrecognised(
        {"CUDA": "CUDA out of memory. Tried to allocate 2.00 MiB"},
        lambda error: "out of memory" in str(error),
    )


def popular_fix(device):
    return unrecognised(TEXTS, lambda error: "out of memory" in str(error))


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control, popular_fix):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
