# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Keeping the batches of DataLoader workers in a list runs into the limit of open files"
# kind = "error"
# symptom = "Too many open files|received 0 items of ancdata"
# messages = [
#     "received 0 items of ancdata",
#     "Too many open files\\. Communication with the workers is no longer possible",
#     "unable to open shared memory object </torch_\\S{1,60}> in read.{1,20}?mode",
#     "unable to mmap \\d{1,15} bytes from file .{1,80}?: Too many open files",
#     "OSError: \\[Errno 24\\] Too many open files",
# ]
# keywords = [
#     "Too many open files in the DataLoader",
#     "appending targets of each batch to a list crashes",
#     "collecting predictions and labels in validation",
#     "ulimit -n",
#     "set_sharing_strategy file_system",
#     "crashes after a few hundred batches when I store them",
#     "saving all labels in a list fails with workers",
#     "evaluation loop dies on file descriptors",
#     "works with num_workers=0, crashes collecting all batches",
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
# targets.append(batch)
# '''
# right = '''
# targets.append(batch.clone())
# '''
# affected = { cpu = ">=1.13" }
# platform = "linux"
# ///
"""A worker sends a tensor as the descriptor of an open file in shared memory, which stays open
as long as the tensor lives (docs: multiprocessing, file_descriptor). A list of batches
reaches the limit of the process; a copy frees the descriptor. The limit is lowered here to
reach it soon.

A higher limit, as advised in fastai/fastai#23, only moves the failure to a longer list.
"""

import resource

from torch.utils.data import DataLoader


def collect(keep, limit=64):
    old = resource.getrlimit(resource.RLIMIT_NOFILE)
    targets = []
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, old[1]))
    try:
        for batch in DataLoader(range(200), num_workers=1, multiprocessing_context="fork"):
            keep(targets, batch)
    except (RuntimeError, OSError) as error:
        return str(error)
    finally:
        targets.clear()
        resource.setrlimit(resource.RLIMIT_NOFILE, old)


def reproduce(device):
    return collect(lambda targets, batch: targets.append(batch))


def control(device):
    return collect(lambda targets, batch: targets.append(batch.clone()))


def popular_fix(device):
    return collect(lambda targets, batch: targets.append(batch), limit=128)


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
