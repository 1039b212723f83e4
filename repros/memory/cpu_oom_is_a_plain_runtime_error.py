# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "`except torch.cuda.OutOfMemoryError` does not catch running out of memory on CPU or MPS"
# kind = "error"
# symptom = "can't allocate memory|not enough memory|Invalid buffer size|out of memory"
# messages = [
#   "DefaultCPUAllocator: (can.t allocate|not enough) memory",
#   "MPS backend out of memory",
#   "Invalid buffer size",
#   "CUBLAS_STATUS_ALLOC_FAILED",
#   "CUDNN_STATUS_ALLOC_FAILED",
#   "NVML_SUCCESS == .{0,200}?INTERNAL ASSERT FAILED",
# ]
# keywords = [
#     "my except for out of memory is not reached",
#     "batch size finder crashes on cpu instead of retrying",
#     "handle running out of memory on a Mac",
#     "catching memory errors works on cuda, not on cpu",
# ]
# origin = "usage"
# reports = ["https://github.com/huggingface/accelerate/issues/4226"]
# documents = [
#     "https://github.com/pytorch/pytorch/pull/83146",
#     "https://github.com/pytorch/pytorch/pull/20618",
#     "https://github.com/pytorch/pytorch/issues/48365",
# ]
# wrong = '''
# try: torch.empty(2**50, device=device)
# except torch.cuda.OutOfMemoryError: ...  # try a smaller batch
# '''
# right = '''
# try: torch.empty(2**50, device=device)
# except RuntimeError as error:
#     if not is_out_of_memory(error): raise
# '''
# fix = "memory.is_out_of_memory"
# affected = { cpu = ">=1.13", cuda = "never", mps = ">=1.13" }
# ///
"""The handler, say one that lowers the batch size, never runs on CPU: the error is a plain
RuntimeError there, as it is on MPS (huggingface/accelerate#4226).

The class was made for CUDA's allocator (pytorch#83146). Looking for "out of memory" in
the text, as people do (pytorch#48365), misses the CPU: its text says "can't allocate
memory" or "not enough memory" (pytorch#20618).
"""

import torch

TEXTS = ("out of memory", "can't allocate memory", "not enough memory", "Invalid buffer size")


def unrecognised(device, recognise):
    torch.empty(1, device=device)  # the device works
    try:
        torch.empty(2**50, device=device)
    except RuntimeError as error:
        if not recognise(error):
            return str(error)


def reproduce(device):
    return unrecognised(device, lambda error: isinstance(error, torch.cuda.OutOfMemoryError))


def control(device):
    return unrecognised(device, lambda error: any(text in str(error) for text in TEXTS))


def popular_fix(device):
    return unrecognised(device, lambda error: "out of memory" in str(error))


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
