# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "DDP fails in the second step if some layers are frozen after the model was wrapped"
# kind = "error"
# symptom = "Expected to have finished reduction in the prior iteration"
# messages = [
#     "Expected to have finished reduction in the prior iteration before starting a new one",
#     "module has parameters that were not used in producing loss",
#     "making sure all .?forward.? function outputs participate in calculating loss",
#     "Parameter indices which did not receive grad for rank \\d",
# ]
# elsewhere = ["Parameters which did not receive grad for rank \\d"]
# origin = "design"
# reports = ["https://github.com/ShiqiYu/OpenGait/issues/230"]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html",
#     "https://github.com/facebookresearch/ClassyVision/pull/398",
# ]
# wrong = '''
# model = DistributedDataParallel(net)
# net.backbone.requires_grad_(False)
# '''
# right = '''
# model = DistributedDataParallel(net, find_unused_parameters=True)
# net.backbone.requires_grad_(False)
# net.backbone.zero_grad(set_to_none=True)  # a gradient of zeros would let momentum move it on
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13" }
# platform = "linux"
# ///
"""When DDP is constructed, it registers its hooks on the parameters that require a gradient. A
parameter that is frozen later gets no gradient, but the reducer still waits for it. If all
parameters are frozen, no hook runs, so no error is raised.

With find_unused_parameters=True, the reducer no longer waits for the frozen parameters. After a
layer is unfrozen, the reducer reduces the layer's gradients again. Creating a new wrapper after
freezing (facebookresearch/ClassyVision#398) works too, but the new wrapper ignores the frozen
layers. If you unfreeze them without a third wrapper, the ranks silently drift apart. Combined with
a reentrant checkpoint, find_unused_parameters=True raises an error: see
distributed/find_unused_breaks_checkpointing.
"""

from collections import OrderedDict

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def start(device):
    layers = OrderedDict(backbone=torch.nn.Linear(3, 3), head=torch.nn.Linear(3, 1))
    net = torch.nn.Sequential(layers).to(device)
    net(torch.ones(1, 3, device=device)).sum().backward()  # it has been trained before
    return net


def two_steps(model, device):
    for _ in range(2):
        model(torch.ones(1, 3, device=device)).sum().backward()


def wrong(device):
    net = start(device)
    model = DistributedDataParallel(net)
    net.backbone.requires_grad_(False)
    two_steps(model, device)


def with_the_option(device):
    net = start(device)
    model = DistributedDataParallel(net, find_unused_parameters=True)
    net.backbone.requires_grad_(False)
    net.backbone.zero_grad(set_to_none=True)  # a gradient of zeros would let momentum move it on
    two_steps(model, device)
    if net.backbone.weight.grad is not None or net.head.bias.grad != 3:
        return "not the gradients of one process without the wrapper"
    net.backbone.requires_grad_(True)
    two_steps(model, device)
    if not torch.allclose(net.backbone.bias.grad, 2 * net.head.weight):
        return "no gradient after the thaw"


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
    return on_one_rank(with_the_option, device)


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
