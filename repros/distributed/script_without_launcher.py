# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "python train.py fails in init_process_group() because no launcher has set RANK"
# kind = "error"
# symptom = "environment variable RANK expected, but not set"
# messages = ["environment variable (?:RANK|WORLD_SIZE|MASTER_ADDR|MASTER_PORT) expected, but not set"]
# origin = "design"
# reports = [
#     "https://github.com/HRNet/HRNet-Semantic-Segmentation/issues/35",
#     "https://github.com/meta-llama/llama/issues/391",
#     "https://github.com/meta-llama/llama-cookbook/issues/59",
# ]
# documents = [
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/distributed/rendezvous.py",
#     "https://docs.pytorch.org/docs/stable/elastic/run.html",
# ]
# wrong = '''
# dist.init_process_group("gloo")
# '''
# right = '''
# import os
# import torch.distributed as dist
# if "RANK" in os.environ:  # torchrun train.py
#     dist.init_process_group("gloo")
# else:  # python train.py
#     dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13" }
# ///
"""A script for several GPUs is started in an IDE, in a notebook or with python, without a launcher.

By default, init_process_group() reads RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT from the
environment (torch/distributed/rendezvous.py). Launchers set these variables for each process (docs:
torchrun), so nothing needs to be changed if you start the script with torchrun --standalone
--nproc_per_node=1 train.py. The corrected code also accepts a start without a launcher, as a group
of one process. With GPUs, write "nccl" instead of "gloo", and read the number of the GPU with
int(os.environ.get("LOCAL_RANK", 0)).

Do not simply set the variables by hand until the error disappears. With RANK=1 and WORLD_SIZE=1,
for example, the process looks for a rank 0 that does not exist (meta-llama/llama#391).
"""

import os
from unittest import mock

import torch
import torch.distributed as dist

NAMES = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")


def without_launcher(setup, **variables):
    rest = {name: value for name, value in os.environ.items() if name not in NAMES}
    try:
        with mock.patch.dict(os.environ, rest | variables, clear=True):
            setup()
    except ValueError as error:
        return str(error)
    total = torch.full((2,), 3.0)
    dist.all_reduce(total)
    seen = dist.get_rank(), dist.get_world_size(), total.tolist()
    dist.destroy_process_group()
    if seen != (0, 1, [3.0, 3.0]):
        return f"rank, ranks and sum are {seen}"


def setup():
    dist.init_process_group("gloo")


def setup_either_way():
    if "RANK" in os.environ:  # torchrun train.py
        dist.init_process_group("gloo")
    else:  # python train.py
        dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)


def reproduce(device):
    return without_launcher(setup)


def control(device):
    return without_launcher(setup_either_way)


def messages(device):
    values = ("0", "1", "localhost")  # one more in each call
    return "\n".join(without_launcher(setup, **dict(zip(NAMES, values[:n]))) for n in (1, 2, 3))


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control, messages):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
