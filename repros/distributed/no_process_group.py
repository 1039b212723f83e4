# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "DistributedSampler in a script that runs as one process: no default process group"
# kind = "error"
# symptom = "Default process group has not been initialized"
# messages = [
#     "Default process group (?:has not been|is not) initialized",
# ]
# keywords = [
#     "run distributed code on a single GPU",
#     "started with python instead of torchrun",
#     "init_process_group missing",
#     "how to train with one GPU",
#     "multi-gpu code does not run on my single gpu",
#     "run the repo's training script without distributed",
#     "debug DDP script in an IDE or notebook",
#     "only have one GPU, script wants distributed",
# ]
# origin = "usage"
# reports = [
#     "https://github.com/OpenGVLab/UniFormerV2/issues/76",
#     "https://github.com/NoamRosenberg/autodeeplab/issues/98",
#     "https://github.com/bosung/MTL-KGC/issues/1",
# ]
# documents = [
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/utils/data/distributed.py",
# ]
# wrong = '''
# sampler = DistributedSampler(dataset)
# '''
# right = '''
# sampler = DistributedSampler(dataset) if dist.is_initialized() else None
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13" }
# ///
"""A script that was written for several GPUs is started on one. DistributedSampler asks
the default process group for the number of ranks (torch/utils/data/distributed.py), and
none exists before init_process_group().

Take the sampler only where a process group is, or start one of a single rank.
"""

import torch.distributed as dist
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


def epoch(ask_first):
    dataset = [1.0, 2.0, 3.0]
    try:
        sampler = DistributedSampler(dataset) if not ask_first or dist.is_initialized() else None
    except (RuntimeError, ValueError) as error:
        return str(error)
    assert len(list(DataLoader(dataset, sampler=sampler))) == 3


def reproduce(device):
    return epoch(ask_first=False)


def control(device):
    return epoch(ask_first=True)


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
