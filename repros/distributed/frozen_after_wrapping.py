# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Freezing layers of a model that is already wrapped in DDP raises in the second step"
# kind = "error"
# symptom = "Expected to have finished reduction in the prior iteration"
# messages = ["Expected to have finished reduction in the prior iteration before starting a new one"]
# keywords = [
#     "freeze layers during DDP training",
#     "requires_grad = False after DistributedDataParallel",
#     "freeze the backbone after some epochs on several GPUs",
#     "alternate training of generator and discriminator under DDP",
#     "freezing the encoder mid-training crashes on several gpus",
#     "staged training with DDP fails when freezing",
#     "GAN alternate freezing fails with multiple gpus",
#     "second iteration fails after setting requires_grad on DDP",
# ]
# origin = "design"
# reports = ["https://github.com/ShiqiYu/OpenGait/issues/230"]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html",
#     "https://github.com/facebookresearch/ClassyVision/pull/398",
#     "https://github.com/JDAI-CV/fast-reid/issues/178",
# ]
# wrong = '''
# model = DistributedDataParallel(net)
# net[0].requires_grad_(False)
# '''
# right = '''
# net[0].requires_grad_(False)
# model = DistributedDataParallel(net)
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13" }
# platform = "linux"
# ///
"""DDP registers its hooks on the parameters that require a gradient when it is built, and
wants them unchanged from then on (docs: DistributedDataParallel). A parameter that is
frozen later gets no gradient, and the reducer still waits for it.

Build the wrapper anew after freezing (facebookresearch/ClassyVision#398), or keep
requires_grad as it is and freeze in the optimizer (JDAI-CV/fast-reid#178).
"""

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def two_steps(device, freeze_first):
    net = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Linear(3, 1)).to(device)
    if freeze_first:
        net[0].requires_grad_(False)
    model = DistributedDataParallel(net)
    net[0].requires_grad_(False)
    try:
        for _ in range(2):
            model(torch.ones(1, 3, device=device)).sum().backward()
    except RuntimeError as error:
        return str(error)


def train(*args):
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    try:
        return two_steps(*args)  # the wrapper is gone before its process group
    finally:
        dist.destroy_process_group()


def reproduce(device):
    return train(device, False)


def control(device):
    return train(device, True)


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
