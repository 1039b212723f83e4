# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A retry inside the except block runs while the failed step's tensors are still alive"
# kind = "oom"
# symptom = "activations of the failed step are still alive"
# origin = "design"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/27600",
#     "https://github.com/pytorch/pytorch/issues/26188",
#     "https://github.com/pytorch/pytorch/issues/18853",
# ]
# documents = ["https://docs.pytorch.org/docs/stable/notes/faq.html"]
# wrong = '''
# try:
#     output = model(batch)
# except RuntimeError:
#     torch.cuda.empty_cache()
#     output = torch.cat([model(half) for half in batch.chunk(2)])
# '''
# right = '''
# try:
#     output = model(batch)
# except RuntimeError as error:
#     texts = ("out of memory", "allocate memory", "not enough memory", "Invalid buffer size")
#     if not any(text in str(error) for text in texts):
#         raise
#     output = None
# if output is None:  # the handler has ended, and lets go of what the failed call holds
#     torch.cuda.empty_cache()
#     output = torch.cat([model(half) for half in batch.chunk(2)])
# '''
# fix = "memory.free_memory"
# use = '''
# from memory import free_memory, is_out_of_memory
# try:
#     output = model(batch)
# except RuntimeError as error:
#     if not is_out_of_memory(error):
#         raise
#     free_memory()  # clears the frames of the failed call first
#     output = torch.cat([model(half) for half in batch.chunk(2)])
# '''
# choice = "Normally, use the lines without the fix; use the fix if the retry has to stay in the handler, or if the error may come from a library such as cuBLAS"
# rule = "warning"
# when = "the first attempt ran out of memory"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The second attempt runs out of memory too (pytorch#18853).

Inside the except block the exception refers to the failed step's frames, and the frames refer to
the step's tensors. Leave the block before the retry (docs: Frequently Asked Questions). Do not keep
the exception either: a list of errors would still hold the tensors. Calling gc.collect() and
empty_cache() in the block frees none of the tensors (pytorch#26188).

If backward() failed, some weights may already have a gradient from the failed batch, so clear these
gradients before the retry. If a half does not fit either, its error propagates. With gradients
enabled, the graphs of both halves together are as large as the whole batch's graph. Call backward()
on each half in turn, and weight the half's mean loss by its share of the rows. In training mode,
BatchNorm sees each half separately, and raises an error for a half with a single row. In DDP, each
call of the model broadcasts its buffers, so if one rank calls the model again, it waits for the
other ranks until the timeout. Searching for a batch size before training avoids these problems.
"""

import gc
import weakref

import torch


class Model:
    """Fits one row."""

    def __init__(self, device):
        self.device, self.activations, self.alive = device, [], None

    def __call__(self, batch):
        if self.activations and self.alive is None:  # the retry starts
            self.alive = self.activations[0]() is not None
        hidden = batch.to(self.device) * 2
        self.activations.append(weakref.ref(hidden))
        if len(batch) > 1:
            torch.empty(2**50, device=self.device)  # out of memory on every device
        return hidden.cpu()


def check(model, output):
    if model.alive:
        return "the activations of the failed step are still alive when the retry starts"
    if output.tolist() != [2.0, 4.0]:
        return f"the output is {output.tolist()} instead of [2.0, 4.0]"


def reproduce(device):
    model, batch = Model(device), torch.tensor([1.0, 2.0])
    try:
        output = model(batch)
    except RuntimeError:
        torch.cuda.empty_cache()
        output = torch.cat([model(half) for half in batch.chunk(2)])
    return check(model, output)


def control(device):
    model, batch = Model(device), torch.tensor([1.0, 2.0])
    try:
        output = model(batch)
    except RuntimeError as error:
        texts = ("out of memory", "allocate memory", "not enough memory", "Invalid buffer size")
        if not any(text in str(error) for text in texts):
            raise
        output = None
    if output is None:  # the handler has ended, and lets go of what the failed call holds
        torch.cuda.empty_cache()
        output = torch.cat([model(half) for half in batch.chunk(2)])
    return check(model, output)


def popular_fix(device):
    model, batch = Model(device), torch.tensor([1.0, 2.0])
    try:
        output = model(batch)
    except RuntimeError:
        gc.collect()
        torch.cuda.empty_cache()
        output = torch.cat([model(half) for half in batch.chunk(2)])
    return check(model, output)


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
