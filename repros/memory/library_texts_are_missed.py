# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = 'Handlers that look for "out of memory" miss the messages of cuBLAS and of a MIG slice'
# kind = "error"
# symptom = "not recognised: cuBLAS, MIG"
# origin = "usage"
# reports = ["https://github.com/huggingface/accelerate/issues/3803"]
# documents = [
#     "https://github.com/deepmodeling/deepmd-kit/pull/5443",
#     "https://github.com/pytorch/pytorch/issues/112377",
#     "https://github.com/pytorch/pytorch/issues/197312",
# ]
# wrong = '''
# if "out of memory" in str(error): ...  # try a smaller batch
# '''
# fix = "memory.is_out_of_memory"
# affected = { cpu = ">=1.13" }
# stand_in = { cpu = "the error texts of public reports, raised by hand" }
# retired = "its own code raises the errors; memory/cpu_oom_is_a_plain_runtime_error shows a handler that misses a real error"
# ///
"""If cuBLAS fails to allocate memory (deepmodeling/deepmd-kit#5443), or a MIG slice runs out of
memory (huggingface/accelerate#3803), a batch size search gives up and the run ends. Both errors are
plain RuntimeErrors with their own messages.
"""

TEXTS = {  # deepmd-kit#5443, accelerate#3803
    "cuBLAS": "CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
    "MIG": 'NVML_SUCCESS == r INTERNAL ASSERT FAILED at "../c10/cuda/CUDACachingAllocator.cpp":838',
}


def unrecognised(texts):
    missed = [
        name for name, text in texts.items() if "out of memory" not in str(RuntimeError(text))
    ]
    if missed:
        return f"not recognised: {', '.join(missed)}"


def reproduce(device):
    return unrecognised(TEXTS)


def control(device):
    return unrecognised({"CUDA": "CUDA out of memory. Tried to allocate 2.00 MiB"})


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
