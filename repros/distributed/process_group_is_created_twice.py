# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "init_process_group() fails if a library has already created the process group"
# kind = "error"
# symptom = "trying to initialize the default process group twice"
# messages = ["trying to initialize the default process group twice"]
# origin = "design"
# reports = [
#     "https://github.com/huggingface/accelerate/issues/536",
#     "https://github.com/deepspeedai/DeepSpeed/issues/2117",
#     "https://github.com/deepspeedai/DeepSpeed/issues/65",
# ]
# documents = [
#     "https://github.com/NVIDIA/Megatron-LM/pull/521",
#     "https://github.com/allenai/OLMo-core/pull/539",
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/distributed/distributed_c10d.py",
# ]
# wrong = '''
# dist.init_process_group("gloo")
# '''
# right = '''
# if not dist.is_initialized():
#     dist.init_process_group("gloo")
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13" }
# ///
"""A script creates its process group and then calls code that creates it too, or vice versa.

A process has one default group, and init_process_group() fails if this group exists
(torch/distributed/distributed_c10d.py). Accelerate, DeepSpeed and Megatron create it themselves
(huggingface/accelerate#536, NVIDIA/Megatron-LM#521). To find the first call, print
dist.is_initialized() after each import and each constructor. A script also makes a second call if
main() runs again, for example in a notebook, in a test or in a search over hyperparameters.

The corrected code uses the existing group, so check that dist.get_backend() and
dist.get_world_size() return the values that you expect. If each run needs its own group, end the
run with dist.destroy_process_group() on every rank.
"""

import os
from unittest import mock

import torch
import torch.distributed as dist

LAUNCHED = {"RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "localhost", "MASTER_PORT": "0"}


def run(setup):
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)  # by a library
    try:
        with mock.patch.dict(os.environ, LAUNCHED):
            setup()
        total = torch.full((2,), 3.0)
        dist.all_reduce(total)
        seen = dist.get_rank(), dist.get_world_size(), total.tolist()
    except (RuntimeError, ValueError) as error:
        return str(error)
    finally:
        dist.destroy_process_group()
    if seen != (0, 1, [3.0, 3.0]):
        return f"rank, ranks and sum are {seen}"


def setup():
    dist.init_process_group("gloo")


def setup_once():
    if not dist.is_initialized():
        dist.init_process_group("gloo")


def reproduce(device):
    return run(setup)


def control(device):
    return run(setup_once)


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
