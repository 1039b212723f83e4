# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Validation with DistributedSampler counts some samples twice if the ranks cannot get equal numbers of samples"
# kind = "silent"
# symptom = "12 predictions for 9 samples"
# origin = "design"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/25162",
#     "https://github.com/roboflow/rf-detr/issues/1507",
#     "https://github.com/pytorch/pytorch/issues/22584",
# ]
# documents = [
#     "https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.distributed.DistributedSampler",
#     "https://github.com/pytorch/pytorch/pull/41171",
# ]
# wrong = '''
# sampler = DistributedSampler(dataset, num_replicas=ranks, rank=rank, shuffle=False)
# for x in DataLoader(dataset, batch_size=2, sampler=sampler):
#     predictions.extend(model(x))
# '''
# right = '''
# sampler = range(rank, len(dataset), ranks)  # not equally many: gather with all_gather_object()
# module = getattr(model, "module", model)  # the forward of DDP may wait for other ranks
# for x in DataLoader(dataset, batch_size=2, sampler=sampler):
#     predictions.extend(module(x))
# '''
# rule = "note"
# when = "the number of samples is not a multiple of the number of ranks"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""During training, every rank has to run the same number of batches. The sampler therefore repeats
the first samples until all ranks have the same number of samples (torch/utils/data/distributed.py).
During validation, the repeated samples count twice, so the metric depends on the number of ranks.
If the number of samples is a multiple of the number of ranks, the sampler repeats nothing.

The option drop_last=True, which was added for this case (pytorch#41171), makes the ranks' shares
equal by dropping samples. If the validation loop contains no collective, the shares need not be
equal, so slice the dataset instead. If the model has buffers, DDP's first forward pass after a
training step is a collective, so call the wrapped module. If your own model has a layer named
`module`, call the model itself, because the corrected code would skip the model's forward().

After the loop, calling all_gather() on tensors of unequal sizes crashes the processes with gloo,
but all_gather_object() accepts them. With NCCL, first call torch.cuda.set_device() on each rank
(docs: all_gather_object). The mean of the ranks' means is wrong if their shares are unequal: reduce
the sum and the count instead.
"""

import torch
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


def padded(dataset, ranks, rank, model, predictions, **options):
    sampler = DistributedSampler(dataset, num_replicas=ranks, rank=rank, shuffle=False, **options)
    for x in DataLoader(dataset, batch_size=2, sampler=sampler):
        predictions.extend(model(x))


def sliced(dataset, ranks, rank, model, predictions):
    sampler = range(rank, len(dataset), ranks)  # not equally many: gather with all_gather_object()
    module = getattr(model, "module", model)  # the forward of DDP may wait for other ranks
    for x in DataLoader(dataset, batch_size=2, sampler=sampler):
        predictions.extend(module(x))


def validate(loop, **options):
    predictions = []
    for rank in range(4):
        loop(list(range(9)), 4, rank, torch.Tensor.tolist, predictions, **options)
    if sorted(predictions) != list(range(9)):
        return f"{len(predictions)} predictions for 9 samples"


def reproduce(device):
    return validate(padded)


def control(device):
    return validate(sliced)


def popular_fix(device):
    return validate(padded, drop_last=True)


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
