# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "DDP fails in the second step because the loss ignores an output that has its own layers"
# kind = "error"
# symptom = "Expected to have finished reduction in the prior iteration"
# messages = [
#     "Expected to have finished reduction in the prior iteration before starting a new one",
#     "module has parameters that were not used in producing loss",
#     "making sure all .?forward.? function outputs participate in calculating loss",
#     "Parameter indices which did not receive grad for rank \\d",
# ]
# elsewhere = ["Parameters which did not receive grad for rank \\d"]
# origin = "usage"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/22436",
#     "https://github.com/pytorch/pytorch/issues/55582",
# ]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html",
#     "https://github.com/pytorch/pytorch/pull/57081",
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/csrc/distributed/c10d/reducer.cpp",
# ]
# wrong = '''
# model = DistributedDataParallel(net)
# for x, y in batches:
#     optimizer.zero_grad()
#     main, auxiliary = model(x)
#     loss = torch.nn.functional.mse_loss(main, y)
#     loss.backward()
#     optimizer.step()
# '''
# right = '''
# model = DistributedDataParallel(net, find_unused_parameters=True)
# for x, y in batches:
#     optimizer.zero_grad()
#     main, auxiliary = model(x)
#     loss = torch.nn.functional.mse_loss(main, y)
#     loss.backward()
#     optimizer.step()
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13" }
# platform = "linux"
# ///
"""The forward pass returns two outputs, the loss uses only one, and the second step fails. The
layers of the other output get no gradient, but the reducer waits for them
(torch/csrc/distributed/c10d/reducer.cpp). The loss may ignore an output from which another output
is computed, such as the features behind the logits, because such an output has no layers of its
own.

With find_unused_parameters=True, the reducer no longer waits for these layers, even if a batch
trains only some of the outputs (pytorch#55582). If no rank uses an output, and the parameters of
its layers have no gradients, these parameters stay unchanged (pytorch#57081). Before 2.0,
zero_grad() turns earlier gradients into zeros, so AdamW still changes these parameters. Do not
return an output that is never used (pytorch#22436), because find_unused_parameters=True walks
through the graph in each step. Return a tuple, a list or a dict: DDP does not find outputs in an
object or a dataclass, so the error remains. With a reentrant checkpoint, the option itself causes
an error: see distributed/find_unused_breaks_checkpointing.
"""

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.main, self.auxiliary = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2)
        for weight in self.parameters():
            torch.nn.init.ones_(weight)

    def forward(self, x):
        return self.main(x), self.auxiliary(x)


def start(device):
    net = Net().to(device)
    batches = [(torch.ones(1, 3, device=device), torch.zeros(1, 2, device=device))] * 2
    return net, torch.optim.AdamW(net.parameters()), batches


def wrong(device):
    net, optimizer, batches = start(device)
    model = DistributedDataParallel(net)
    for x, y in batches:
        optimizer.zero_grad()
        main, auxiliary = model(x)
        loss = torch.nn.functional.mse_loss(main, y)
        loss.backward()
        optimizer.step()


def with_the_option(device):
    net, optimizer, batches = start(device)
    model = DistributedDataParallel(net, find_unused_parameters=True)
    for x, y in batches:
        optimizer.zero_grad()
        main, auxiliary = model(x)
        loss = torch.nn.functional.mse_loss(main, y)
        loss.backward()
        optimizer.step()
    trained = net.main.weight.max() < 1 and net.main.bias.max() < 1
    if not trained or net.auxiliary.weight.min() < 1:
        return "not what one process without the wrapper does"


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
