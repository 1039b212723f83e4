# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Keeping unpinned batches from DataLoader workers in a list exceeds the open-file limit"
# kind = "error"
# symptom = "Too many open files|received 0 items of ancdata"
# messages = ["Too many open files\\. Communication with the workers is no longer possible"]
# elsewhere = [
#     "received 0 items of ancdata",
#     "unable to open shared memory object </torch_\\S{1,60}> in read.{1,20}?mode",
#     "unable to mmap \\d{1,15} bytes from file .{1,80}?: Too many open files",
#     "OSError: \\[Errno 24\\] Too many open files",
# ]
# origin = "design"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/11201",
#     "https://github.com/pytorch/pytorch/issues/41465",
# ]
# documents = [
#     "https://docs.pytorch.org/docs/stable/multiprocessing.html#file-descriptor-file-descriptor",
#     "https://github.com/fastai/fastai/issues/23",
# ]
# wrong = '''
# for x, y in loader:
#     targets.append(y)
# '''
# right = '''
# for x, y in loader:
#     targets.append(y.clone())
# '''
# affected = { cpu = ">=1.13" }
# platform = "linux"
# ///
"""On Linux, a worker sends a tensor as the descriptor of an open file in shared memory. The file
stays open as long as the tensor lives (docs: multiprocessing, file_descriptor), so a growing list
of batches reaches the process's open-file limit. If you keep a copy instead, the descriptor is
freed. For a CPU tensor, y.cpu(), y.detach(), y[0] and y.numpy() do not copy. For a batch of several
tensors, use copy.deepcopy(batch). The reproducer lowers the limit so that it is reached quickly.

With pin_memory=True and a GPU, the loader already copies each batch
(torch/utils/data/_utils/pin_memory.py). Raising the limit (fastai/fastai#23) helps if the new limit
exceeds the number of kept tensors. Calling
torch.multiprocessing.set_sharing_strategy("file_system") helps too. In both cases the batches stay
in shared memory.
"""

import resource

from torch.utils.data import DataLoader


def limited(collect):
    old = resource.getrlimit(resource.RLIMIT_NOFILE)
    rows, targets = [(0.0, number) for number in range(200)], []
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, old[1]))
    try:
        collect(DataLoader(rows, num_workers=1, multiprocessing_context="fork"), targets)
        if [int(y) for y in targets] != list(range(200)):
            return f"{targets} instead of the 200 numbers"
    except (RuntimeError, OSError) as error:
        return str(error)
    finally:
        targets.clear()
        resource.setrlimit(resource.RLIMIT_NOFILE, old)


def keeps_files(loader, targets):
    for x, y in loader:
        targets.append(y)


def keeps_copies(loader, targets):
    for x, y in loader:
        targets.append(y.clone())


def reproduce(device):
    return limited(keeps_files)


def control(device):
    return limited(keeps_copies)


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
