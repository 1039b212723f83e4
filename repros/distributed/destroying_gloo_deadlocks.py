# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "destroy_process_group() may never return, because it holds the GIL that a gloo thread waits for"
# kind = "hang"
# symptom = "destroy_process_group\\(\\) does not return"
# origin = "torch"
# reports = ["https://github.com/pytorch/pytorch/issues/56297"]
# documents = ["https://github.com/pytorch/pytorch/pull/154976"]
# fixed_by = "pytorch#154976"
# wrong = '''
# dist.all_reduce(torch.ones(1), async_op=True)
# dist.destroy_process_group()
# '''
# right = '''
# total = torch.ones(1)  # hold each reduced tensor until the group is gone, or use torch 2.8
# work = dist.all_reduce(total, async_op=True)
# work.wait()
# dist.destroy_process_group()
# '''
# affected = { cpu = ">=2.0,<2.8" }
# platform = "linux"
# ///
"""When a gloo process group is destroyed, it waits for its work and its threads to finish. Before
torch 2.8, it holds the GIL during this wait. However, one of the threads needs the GIL to free a
tensor that Python no longer references (pytorch#56297; fixed by pytorch#154976). Torch 1.13 never
hung in this reproducer.

The reproducer does not wait for the reduction, which makes the hang likely. A program that waits
for the reduction can hang too. Keeping a Python reference to each reduced tensor prevents the hang.
Reusing the same tensor for all reductions prevents it too. A program that keeps only the last few
tensors can hang: on 2.3, two ranks with ten reductions hung although they waited for every
reduction.
"""

from multiprocessing import get_context

import torch
import torch.distributed as dist


def start():
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)


def dropped():
    for _ in range(30):  # not every round hangs
        start()
        dist.all_reduce(torch.ones(1), async_op=True)
        dist.destroy_process_group()


def held():
    for _ in range(30):
        start()
        total = torch.ones(1)  # hold each reduced tensor until the group is gone, or use torch 2.8
        work = dist.all_reduce(total, async_op=True)
        work.wait()
        dist.destroy_process_group()
        assert total == 1


def train(rounds):
    process = get_context("fork").Process(target=rounds)
    process.start()
    process.join(4)
    if process.is_alive():
        process.kill()
        process.join()
        return "destroy_process_group() does not return"
    if process.exitcode:
        return f"exit status {process.exitcode}"


def reproduce(device):
    return train(dropped)


def control(device):
    return train(held)


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
