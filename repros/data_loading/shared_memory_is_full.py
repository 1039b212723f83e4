# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A batch from a DataLoader worker does not fit into shared memory"
# kind = "error"
# symptom = "unable to (?:resize|write to|allocate).{0,40}file </torch_"
# messages = ["unable to resize file </torch_"]
# elsewhere = ["unable to (?:write to|allocate shared memory ?\\(shm\\) for) file </torch_"]
# origin = "design"
# reports = [
#     "https://github.com/huaweicloud/dls-example/issues/26",
#     "https://github.com/logicalclocks/hopsworks/issues/1557",
#     "https://github.com/meta-pytorch/torchx/issues/428",
# ]
# documents = [
#     "https://docs.pytorch.org/docs/stable/multiprocessing.html#sharing-cpu-tensors",
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/aten/src/ATen/MapAllocator.cpp",
#     "https://github.com/pytorch/pytorch/issues/41481",
# ]
# wrong = '''
# loader = DataLoader(rows, batch_size=16, num_workers=1)
# '''
# right = '''
# loader = DataLoader(rows, batch_size=16, num_workers=0)  # or more room: docker run --shm-size=8g
# '''
# affected = { cpu = ">=1.13" }
# stand_in = { cpu = "a limit of 1 MB per file stands in for a full /dev/shm" }
# platform = "linux"
# ///
"""Workers send batches to the main process through files in /dev/shm (docs: multiprocessing,
Sharing CPU tensors). A Docker container has 64 MB of this shared memory by default
(meta-pytorch/torchx#428). The file </torch_...> in the message is not on the disk
(aten/src/ATen/MapAllocator.cpp). If the space runs out only while the file is being filled, a bus
error occurs instead (logicalclocks/hopsworks#1557 shows both).

With num_workers=0 nothing is shared. In that case, also remove persistent_workers=True,
prefetch_factor, multiprocessing_context and timeout, because these options raise an error without
workers. The exception is a prefetch_factor of 2 on 1.13, where 2 is the default. Because
worker_init_fn is no longer called, do its work, such as opening files and setting seeds, before the
loop.

Alternatively, use fewer workers, a smaller prefetch_factor or smaller batches, which need less
shared memory. A model's share_memory() uses the same space, and raises the same message without a
loader (torch/storage.py). Calling set_sharing_strategy("file_system"), as advised in pytorch#41481,
does not help because it uses the same folder.
"""

import resource
import signal

import torch
from torch.utils.data import DataLoader


def read(loader, strategy="file_descriptor"):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    default = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # so that the call fails instead
    resource.setrlimit(resource.RLIMIT_FSIZE, (2**20, hard))
    before = torch.multiprocessing.get_sharing_strategy()
    torch.multiprocessing.set_sharing_strategy(strategy)
    try:
        (batch,) = loader
        if batch.shape != (16, 2**17) or batch.any():
            return f"a batch of {tuple(batch.shape)} that is not the rows"
    except RuntimeError as error:
        return str(error).strip().splitlines()[-1]
    finally:
        torch.multiprocessing.set_sharing_strategy(before)
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, default)


def reproduce(device):
    rows = torch.zeros(16, 2**17)
    loader = DataLoader(rows, batch_size=16, num_workers=1)
    return read(loader)


def control(device):
    rows = torch.zeros(16, 2**17)
    loader = DataLoader(
        rows, batch_size=16, num_workers=0
    )  # or more room: docker run --shm-size=8g
    return read(loader)


def popular_fix(device):
    rows = torch.zeros(16, 2**17)
    loader = DataLoader(rows, batch_size=16, num_workers=1)
    return read(loader, strategy="file_system")


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
