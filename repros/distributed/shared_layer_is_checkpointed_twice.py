# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "DDP fails if a forward pass uses a layer twice under reentrant checkpoints"
# kind = "error"
# symptom = "Expected to mark a variable ready only once"
# messages = [
#     "Expected to mark a variable ready only once",
#     "Reused parameters in multiple reentrant backward passes",
#     "Parameter at index \\d{1,9} .{0,200}?has been marked as ready twice",
# ]
# origin = "design"
# reports = ["https://github.com/tatp22/linformer-pytorch/issues/23"]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html",
#     "https://github.com/pytorch/pytorch/pull/106985",
# ]
# wrong = '''
# for _ in range(2):
#     x = checkpoint(self.layer, x, use_reentrant=True)
# '''
# right = '''
# for _ in range(2):
#     x = checkpoint(self.layer, x, use_reentrant=False)
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13" }
# platform = "linux"
# ///
"""If a layer is used twice, each time under a reentrant checkpoint, it is marked ready twice in one
backward pass. A reentrant checkpoint runs its own backward pass within the outer one
(torch/utils/checkpoint.py), so the layer's gradient arrives once per use. The same error occurs if
the second use is not under a checkpoint. With use_reentrant=False, autograd first adds up the
gradients of both uses.

Passing static_graph=True also allows the second use (docs: DistributedDataParallel).
"""

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.checkpoint import checkpoint


class Reentrant(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.stem, self.layer = torch.nn.Linear(3, 3), torch.nn.Linear(3, 3)

    def forward(self, x):
        x = self.stem(x)
        for _ in range(2):
            x = checkpoint(self.layer, x, use_reentrant=True)
        return x


class Net(Reentrant):
    def forward(self, x):
        x = self.stem(x)
        for _ in range(2):
            x = checkpoint(self.layer, x, use_reentrant=False)
        return x


def step(net, device):
    model = DistributedDataParallel(net.to(device))
    x = torch.ones(1, 3, device=device)
    model(x).sum().backward()
    plain = net.layer(net.layer(net.stem(x))).sum()
    if not torch.allclose(net.layer.weight.grad, torch.autograd.grad(plain, net.layer.weight)[0]):
        return "not the gradient without the wrapper and without a checkpoint"


def on_one_rank(train, device):
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    try:
        return train(device)  # the wrapper is gone before its process group
    except RuntimeError as error:
        return str(error)
    finally:
        dist.destroy_process_group()


def reproduce(device):
    return on_one_rank(lambda device: step(Reentrant(), device), device)


def control(device):
    return on_one_rank(lambda device: step(Net(), device), device)


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
