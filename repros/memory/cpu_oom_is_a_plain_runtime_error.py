# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "`except torch.cuda.OutOfMemoryError` does not catch out-of-memory errors on the CPU or MPS"
# kind = "error"
# symptom = "can't allocate memory|not enough memory|Invalid buffer size|out of memory"
# messages = ["DefaultCPUAllocator: can.t allocate memory"]
# elsewhere = [
#     "DefaultCPUAllocator: not enough memory",
#     "Torch: not enough memory: you tried to (?:re)?allocate",
#     "MPS backend out of memory",
#     "Invalid buffer size",
#     "CUBLAS_STATUS_ALLOC_FAILED",
#     "CUDNN_STATUS_ALLOC_FAILED",
#     "NVML_SUCCESS == .{0,200}?INTERNAL ASSERT FAILED",
# ]
# origin = "usage"
# reports = ["https://github.com/huggingface/accelerate/issues/4226"]
# documents = [
#     "https://github.com/pytorch/pytorch/pull/83146",
#     "https://github.com/pytorch/pytorch/pull/20618",
#     "https://github.com/pytorch/pytorch/issues/48365",
# ]
# wrong = '''
# try:
#     loss = step(batch)
# except torch.cuda.OutOfMemoryError:
#     loss = None  # left out
#     optimizer.zero_grad()
# '''
# right = '''
# try:
#     loss = step(batch)
# except (RuntimeError, MemoryError) as error:
#     texts = ("out of memory", "allocate memory", "not enough memory", "Invalid buffer size")
#     if not isinstance(error, MemoryError) and not any(text in str(error) for text in texts):
#         raise
#     loss = None  # left out; in DDP on all ranks
#     optimizer.zero_grad()  # backward() may have stopped halfway
# '''
# fix = "memory.is_out_of_memory"
# use = '''
# from memory import is_out_of_memory
# try:
#     loss = step(batch)
# except (RuntimeError, MemoryError) as error:
#     if not is_out_of_memory(error):
#         raise
#     loss = None  # left out; in DDP on all ranks
#     optimizer.zero_grad()  # backward() may have stopped halfway
# '''
# choice = "Use the fix, which also recognizes the messages of libraries such as cuBLAS; use the lines without the fix only for the CPU and MPS"
# affected = { cpu = ">=1.13", cuda = "never", mps = ">=1.13" }
# ///
"""On the CPU, a handler that lowers the batch size, for example, never runs. There the error is a
plain RuntimeError, as it is on MPS (huggingface/accelerate#4226).

The class torch.cuda.OutOfMemoryError was added for CUDA's allocator (pytorch#83146). The popular
check for "out of memory" in the message (pytorch#48365) misses errors on the CPU, which say "can't
allocate memory" or "not enough memory" (pytorch#20618).

If backward() fails, some weights already have a gradient from the failed batch. Calling zero_grad()
clears this gradient, and also the gradients that the accumulation window has collected so far.
Without this call, the next step uses the failed batch's gradient. Call optimizer.step() outside of
`try`, because if Adam runs out of memory while it creates its state, the next step fails with a
KeyError.

In DDP all ranks have to skip the batch. If only one rank skips it, DDP silently averages the
gradients of that rank's next batch with the gradients of the current batch on the other ranks. At
the end the other ranks wait for a batch that never comes, or fail.
"""

import torch


def start(device):
    layers = [torch.nn.Linear(1, 1, device=device) for _ in range(2)]
    optimizer = torch.optim.SGD([p for layer in layers for p in layer.parameters()], lr=0.1)

    def step(batch):
        def fill(grad):
            torch.empty(batch, device=device)

        hidden = layers[0](torch.ones(1, 1, device=device))
        hidden.register_hook(fill)  # the gradients of layers[1] are there by then
        loss = layers[1](hidden).sum()
        loss.backward()
        return loss

    return step, optimizer, layers[1].bias


def reproduce(device):
    (step, optimizer, _), batch = start(device), 2**50
    try:
        try:
            loss = step(batch)
        except torch.cuda.OutOfMemoryError:
            loss = None  # left out
            optimizer.zero_grad()
    except RuntimeError as error:
        return str(error)
    if loss is not None:
        return "the batch fits"


def control(device):
    step, optimizer, bias = start(device)
    for batch, fits in ((2**50, False), (2, True)):
        try:
            loss = step(batch)
        except (RuntimeError, MemoryError) as error:
            texts = ("out of memory", "allocate memory", "not enough memory", "Invalid buffer size")
            if not isinstance(error, MemoryError) and not any(text in str(error) for text in texts):
                raise
            loss = None  # left out
            optimizer.zero_grad()  # backward() may have stopped halfway
        if (loss is not None) != fits:
            return f"the batch of {batch} was {'left out' if fits else 'not left out'}"
    if bias.grad != 1:
        return f"the gradient is {bias.grad.item()} instead of 1 after the batch that fits"


def popular_fix(device):
    (step, _, _), batch = start(device), 2**50
    try:
        step(batch)
    except RuntimeError as error:
        if "out of memory" not in str(error):
            return str(error)


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
