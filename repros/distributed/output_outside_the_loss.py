# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "DDP raises in the second step: one output of the forward is not in the loss"
# kind = "error"
# symptom = "Expected to have finished reduction in the prior iteration"
# messages = [
#     "Expected to have finished reduction in the prior iteration before starting a new one",
#     "making sure all .?forward.? function outputs participate in calculating loss",
# ]
# keywords = [
#     "all parameters are used and the error still comes",
#     "auxiliary output not used in the loss under DDP",
#     "discarded output",
#     "several heads, only some of them trained in a batch",
#     "auxiliary head output ignored, multi gpu fails",
#     "model returns features and logits, only logits used",
#     "second iteration crashes on several gpus only",
#     "one gpu trains, two gpus crash in step two",
# ]
# origin = "usage"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/22049",
#     "https://github.com/pytorch/pytorch/issues/55582",
# ]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html",
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/csrc/distributed/c10d/reducer.cpp",
# ]
# wrong = '''
# main, auxiliary = model(x)
# main.sum().backward()
# '''
# right = '''
# main, auxiliary = model(x)
# (main.sum() + auxiliary.sum()).backward()
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13" }
# platform = "linux"
# ///
"""The forward returns two outputs, the loss takes one, and the second step raises: the
parameters of the other output never get a gradient, and the reducer waits for them.

find_unused_parameters=True, which the message advises, ends the error and not
its cause: that layer still has no gradient.
"""

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.main, self.auxiliary = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2)

    def forward(self, x):
        return self.main(x), self.auxiliary(x)


def two_steps(device, use_both, **options):
    model = DistributedDataParallel(Net().to(device), **options)
    try:
        for _ in range(2):
            main, auxiliary = model(torch.ones(1, 3, device=device))
            if use_both:
                (main.sum() + auxiliary.sum()).backward()
            else:
                main.sum().backward()
    except RuntimeError as error:
        return str(error)
    if model.module.auxiliary.weight.grad is None:
        return "no error, and the layer of the second output has no gradient"


def train(*args, **options):
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    try:
        return two_steps(*args, **options)  # the wrapper is gone before its process group
    finally:
        dist.destroy_process_group()


def reproduce(device):
    return train(device, use_both=False)


def control(device):
    return train(device, use_both=True)


def popular_fix(device):
    return train(device, use_both=False, find_unused_parameters=True)


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
