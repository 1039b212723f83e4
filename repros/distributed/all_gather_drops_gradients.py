# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A loss over the features from all_gather() misses the gradients of the other ranks"
# kind = "silent"
# symptom = "half of the gradient is missing"
# origin = "design"
# reports = [
#     "https://github.com/huggingface/accelerate/issues/1154",
#     "https://github.com/HobbitLong/SupContrast/issues/26",
#     "https://github.com/3dlg-hcvc/DuoduoCLIP/issues/10",
# ]
# documents = [
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/distributed/nn/functional.py",
# ]
# wrong = '''
# dist.all_gather(gathered, features)
# '''
# right = '''
# from torch.distributed.nn import functional
# gathered = functional.all_gather(features)
# '''
# affected = { cpu = ">=1.13" }
# platform = "linux"
# ///
"""The loss is right, but its gradient is wrong, because all_gather() fills the given tensors in
place and records no graph (HobbitLong/SupContrast#26). A contrastive loss then trains a rank's
features as anchors, but never as the counterparts of other anchors. Assigning gathered[rank] =
features restores the graph only for the rank's own features.

The all_gather() in torch.distributed.nn.functional is differentiable: its backward pass sums the
gradients from the losses of all ranks. DDP then divides the sum by the number of ranks. In 2.13 and
2.15, a warning says that this function is deprecated, and names its successor, all_gather_single().
The successor gives the same gradients.
"""

import torch
import torch.distributed as dist
from torch.distributed.nn import functional


def without_a_graph(features):
    gathered = [torch.empty_like(features)]
    dist.all_gather(gathered, features)
    return gathered


def with_a_graph(features):
    gathered = functional.all_gather(features)
    return gathered


def gradient(gather):
    weight = torch.ones(2, requires_grad=True)
    features = weight * 1.0
    (features * torch.cat(list(gather(features)))).sum().backward()  # of w * w: 2 w
    if torch.equal(weight.grad, weight):
        return "half of the gradient is missing"
    if not torch.equal(weight.grad, 2 * weight):
        return f"gradient {weight.grad} instead of {2 * weight}"


def train(gather):
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    try:
        return gradient(gather)
    finally:
        dist.barrier()  # without it, one run in 40 hangs in the next line on torch 2.1 to 2.6
        dist.destroy_process_group()


def reproduce(device):
    return train(without_a_graph)


def control(device):
    return train(with_a_graph)


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
