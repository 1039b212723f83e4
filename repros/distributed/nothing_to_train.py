# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Wrapping a model in DDP fails if all its parameters are frozen"
# kind = "error"
# symptom = "DistributedDataParallel is not needed when a module doesn't have any parameter"
# messages = [
#     "DistributedDataParallel is not needed when a module doesn.t have any parameter that requires a gradient",
# ]
# elsewhere = [
#     "DistributedDataParallel is not needed when a module doesn.t have any parameters that require a gradient",
#     "tensors\\.size\\(\\) > 0 INTERNAL ASSERT FAILED .{0,120}?reducer\\.cpp",
# ]
# origin = "design"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/25550",
#     "https://github.com/pytorch/pytorch/issues/45326",
#     "https://github.com/huggingface/accelerate/issues/760",
#     "https://github.com/guoqincode/Open-AnimateAnyone/issues/32",
# ]
# documents = ["https://github.com/pytorch/pytorch/issues/25552"]
# wrong = '''
# model = DistributedDataParallel(teacher)
# '''
# right = '''
# trains = any(p.requires_grad for p in teacher.parameters())
# model = DistributedDataParallel(teacher) if trains else teacher
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13" }
# platform = "linux"
# ///
"""DDP rejects a module without trainable parameters, such as a frozen teacher or a perceptual loss
(pytorch#45326). A model also fails if none of its parts is trained in the current stage
(guoqincode/Open-AnimateAnyone#32). Use the module without the wrapper. The model then has no
.module, and its state_dict() keys have no prefix. Each rank keeps the weights that it loaded or
initialized, because only DDP sends the weights of rank 0 to the other ranks.

If you unfreeze the model later, wrap it at that point. Without the wrapper, each rank silently
trains on its own gradients. If some layers were meant to train, too many were frozen, and the
corrected code does not help.
"""

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def start(device, trains):
    return torch.nn.Linear(3, 1).to(device).requires_grad_(trains)


def wrong(device):
    teacher = start(device, trains=False)
    model = DistributedDataParallel(teacher)
    model(torch.ones(1, 3, device=device))


def only_if_it_trains(device):
    for student in (False, True):
        teacher = start(device, trains=student)
        trains = any(p.requires_grad for p in teacher.parameters())
        model = DistributedDataParallel(teacher) if trains else teacher
        if isinstance(model, DistributedDataParallel) != student:
            return "the frozen one is wrapped, or the other is not"
        model(torch.ones(1, 3, device=device))


def on_one_rank(train, device):
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    try:
        return train(device)  # the wrapper is gone before its process group
    except RuntimeError as error:
        return str(error)
    finally:
        dist.destroy_process_group()


def reproduce(device):
    return on_one_rank(wrong, device)


def control(device):
    return on_one_rank(only_if_it_trains, device)


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
