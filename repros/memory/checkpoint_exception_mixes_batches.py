# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "If a checkpoint() call fails, a batch that is processed in the except block can get the failed batch's gradient"
# kind = "silent"
# symptom = "the gradient is that of the failed batch"
# origin = "torch"
# documents = [
#     "https://github.com/pytorch/pytorch/pull/105101",
#     "https://github.com/pytorch/pytorch/pull/184018",
# ]
# fixed_by = "pytorch#184018"
# upstream = "unreported"
# wrong = '''
# try:
#     loss = checkpoint(forward, batch, use_reentrant=False)
# except MemoryError:
#     loss = forward(next_batch)
# '''
# right = '''
# try:
#     loss = checkpoint(forward, batch, use_reentrant=False)
# except MemoryError:
#     loss = None
# if loss is None:  # the handler has ended
#     loss = forward(next_batch)
# '''
# fix = "upgrade"
# affected = { cpu = ">=2.1,<2.13", cuda = ">=2.1,<2.13" }
# ///
"""If a loop runs the next batch inside the handler of an out-of-memory error, it can train on the
failed batch's gradient.

Since 2.1, checkpoint(use_reentrant=False) enters its saved-tensor hooks in a generator
(pytorch#105101). If the function raises, the exception's traceback keeps the generator and its
hooks alive until the handler ends (control: the next batch runs after the handler). A tensor saved
in the handler becomes a reference to the failed call, which backward() then repeats.

In three cases, backward() raises an error instead. The failed call may already have saved a tensor,
so the numbers of saved tensors differ. It may fail again when it is repeated, or the next batch may
be computed in a checkpoint() too. The upstream fix throws the exception into the generator
(pytorch#184018).

If the exception is kept in a list or a variable, it has the same effect after the handler: keep
only its text, traceback.format_exc(). If the function that failed kept an exception in a local
variable, call gc.collect() before the next batch. A batch that runs in `finally` fails too, but
`continue` in the handler is harmless.
"""

import torch
from torch.utils.checkpoint import checkpoint


def start(device):
    weight = torch.zeros(2, device=device, requires_grad=True)
    batch, next_batch = torch.tensor([[1.0, 1.0], [5.0, 5.0]], device=device)
    memory_is_short = [True]

    def forward(batch):
        if memory_is_short:
            memory_is_short.clear()
            raise MemoryError
        return (weight * batch).sum()

    return weight, batch, next_batch, forward


def check(weight, batch, next_batch):
    if torch.equal(weight.grad, batch):
        return "the gradient is that of the failed batch"
    if not torch.equal(weight.grad, next_batch):
        return f"the gradient is {weight.grad.tolist()}"


def reproduce(device):
    weight, batch, next_batch, forward = start(device)
    try:
        loss = checkpoint(forward, batch, use_reentrant=False)
    except MemoryError:
        loss = forward(next_batch)
    loss.backward()
    return check(weight, batch, next_batch)


def control(device):
    weight, batch, next_batch, forward = start(device)
    try:
        loss = checkpoint(forward, batch, use_reentrant=False)
    except MemoryError:
        loss = None
    if loss is None:  # the handler has ended
        loss = forward(next_batch)
    loss.backward()
    return check(weight, batch, next_batch)


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
