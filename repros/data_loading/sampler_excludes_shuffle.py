# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Passing both a sampler and shuffle=True to DataLoader raises ValueError"
# kind = "error"
# symptom = "sampler option is mutually exclusive with shuffle"
# messages = [
#     "sampler option is mutually exclusive with\\s{1,9}shuffle",
#     "batch_sampler option is mutually exclusive with\\s{1,9}batch_size, shuffle, sampler, and\\s{1,9}drop_last",
# ]
# elsewhere = [
#     "sampler is mutually exclusive with\\s{1,9}shuffle",
#     "batch_sampler is mutually exclusive with\\s{1,9}batch_size, shuffle, sampler,? and\\s{1,9}drop_last",
# ]
# origin = "design"
# reports = [
#     "https://github.com/ultralytics/yolov3/issues/231",
#     "https://github.com/NVIDIA/tacotron2/issues/168",
#     "https://github.com/AgatheSenellart/MultiVae/issues/33",
# ]
# documents = ["https://github.com/pytorch/pytorch/blob/v2.13.0/torch/utils/data/dataloader.py"]
# wrong = '''
# loader = DataLoader(rows, sampler=sampler, shuffle=True)
# batches = DataLoader(rows, batch_sampler=batch_sampler, batch_size=2, shuffle=True)
# '''
# right = '''
# loader = DataLoader(rows, sampler=sampler, shuffle=sampler is None)
# batches = DataLoader(rows, batch_sampler=batch_sampler)
# '''
# rule = "error"
# affected = { cpu = ">=1.13" }
# ///
"""With shuffle=True the loader creates its own RandomSampler, but a loader can have only one
sampler (torch/utils/data/dataloader.py). SubsetRandomSampler and WeightedRandomSampler already
shuffle. DistributedSampler shuffles by default, but needs set_epoch() to shuffle differently in
each epoch (torch/utils/data/distributed.py). With any other sampler, the sampler alone determines
the order of the rows. A SequentialSampler, for example, does not shuffle them. A batch_sampler
builds whole batches, so it cannot be combined with shuffle, sampler, drop_last, or a batch_size
other than 1, the default.
"""

from torch.utils.data import BatchSampler, DataLoader, SubsetRandomSampler


def start():
    sampler = SubsetRandomSampler([0, 1, 2])
    return range(4), sampler, BatchSampler(sampler, 2, drop_last=False)


def reproduce(device):
    rows, sampler, _ = start()
    try:
        DataLoader(rows, sampler=sampler, shuffle=True)
    except ValueError as error:
        return str(error)


def control(device):
    rows, sampler, batch_sampler = start()
    loader = DataLoader(rows, sampler=sampler, shuffle=sampler is None)
    batches = DataLoader(rows, batch_sampler=batch_sampler)
    sizes = [len(batch) for batch in batches]
    if sorted(int(row) for row in loader) != [0, 1, 2] or sizes != [2, 1]:
        return "not the rows and batches of the samplers"


def messages(device):
    rows, _, batch_sampler = start()
    try:
        DataLoader(rows, batch_sampler=batch_sampler, batch_size=2, shuffle=True)
    except ValueError as error:
        return str(error)


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control, messages):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
