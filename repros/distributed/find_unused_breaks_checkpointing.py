# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "find_unused_parameters=True makes reentrant gradient checkpointing fail under DDP"
# kind = "error"
# symptom = "Expected to mark a variable ready only once"
# messages = ["Expected to mark a variable ready only once"]
# elsewhere = ["Incorrect unused parameter detection"]
# origin = "design"
# reports = [
#     "https://github.com/huggingface/accelerate/issues/2017",
#     "https://github.com/pytorch/pytorch/issues/24005",
#     "https://github.com/allenai/longformer/issues/63",
# ]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html",
#     "https://docs.pytorch.org/docs/stable/checkpoint.html",
#     "https://github.com/huggingface/transformers/pull/4659",
# ]
# wrong = '''
# hidden = checkpoint(self.layer, self.stem(x), use_reentrant=True)  # and find_unused_parameters=True
# '''
# right = '''
# hidden = checkpoint(self.layer, self.stem(x), use_reentrant=False)
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13" }
# platform = "linux"
# ///
"""Every layer is used once, but DDP reports that a layer was marked ready twice. If use_reentrant
is not passed, checkpoint() is reentrant, and fails in the same way on 1.13, 2.3 and 2.15.

The search for unused parameters traverses the output's graph (docs: DistributedDataParallel). That
graph lacks the layers that a reentrant checkpoint recomputes later. Their parameters are marked
ready as unused before the backward pass, and again when their gradients arrive. With
use_reentrant=False, the forward pass records these layers (docs: checkpoint).

If every layer is used exactly once in every step, find_unused_parameters=False removes the error
too. If a layer is checkpointed twice, that option does not help, but the corrected line does. If a
layer is not used, find_unused_parameters=False only leads to another error, "Expected to have
finished reduction".
"""

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.checkpoint import checkpoint


class Reentrant(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.stem, self.layer, self.unused = (torch.nn.Linear(3, 3) for _ in range(3))

    def forward(self, x):
        hidden = checkpoint(self.layer, self.stem(x), use_reentrant=True)
        return hidden.square().sum()


class Net(Reentrant):
    def forward(self, x):
        hidden = checkpoint(self.layer, self.stem(x), use_reentrant=False)
        return hidden.square().sum()


def two_steps(net, device):
    model = DistributedDataParallel(net.to(device), find_unused_parameters=True)
    x = torch.ones(1, 3, device=device)
    for _ in range(2):
        net.zero_grad(set_to_none=True)
        model(x).backward()
    expected = torch.autograd.grad(net.layer(net.stem(x)).square().sum(), net.stem.weight)[0]
    if not torch.allclose(net.stem.weight.grad, expected) or net.unused.weight.grad is not None:
        return "not the gradients without the wrapper and without a checkpoint"


def on_one_rank(train, device):
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    try:
        return train(device)  # the wrapper is gone before its process group
    except RuntimeError as error:
        return str(error)
    finally:
        dist.destroy_process_group()


def reproduce(device):
    return on_one_rank(lambda device: two_steps(Reentrant(), device), device)


def control(device):
    return on_one_rank(lambda device: two_steps(Net(), device), device)


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
