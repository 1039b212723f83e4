# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A DataLoader with a sampler and shuffle=True raises"
# kind = "error"
# symptom = "sampler option is mutually exclusive with shuffle"
# messages = [
#     "sampler (?:option )?is mutually exclusive with\\s{1,9}shuffle",
#     "batch_sampler (?:option )?is mutually exclusive with\\s{1,9}batch_size, shuffle, sampler,? and\\s{1,9}drop_last",
# ]
# keywords = [
#     "shuffle with DistributedSampler",
#     "shuffle with SubsetRandomSampler",
#     "WeightedRandomSampler and shuffle",
#     "train.py fails only on several GPUs in the DataLoader",
#     "loader refuses a sampler together with shuffle",
#     "how to shuffle when I use a custom sampler",
#     "weighted sampling for imbalanced classes and shuffle",
#     "validation split by indices and shuffled training",
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
# '''
# right = '''
# loader = DataLoader(rows, sampler=sampler, shuffle=sampler is None)
# '''
# rule = "error"
# affected = { cpu = ">=1.13" }
# ///
"""shuffle=True asks the loader to make a RandomSampler of its own, and it can have one
sampler (torch/utils/data/dataloader.py). SubsetRandomSampler and WeightedRandomSampler
shuffle by themselves, and DistributedSampler does unless it is told not to
(torch/utils/data/distributed.py); it needs set_epoch() to shuffle differently in each
epoch (torch/utils/data/distributed.py).
"""

from torch.utils.data import DataLoader, SubsetRandomSampler


def load(shuffle):
    rows, sampler = range(4), SubsetRandomSampler([0, 1])
    try:
        loader = DataLoader(rows, sampler=sampler, shuffle=shuffle(sampler))
        list(loader)
    except ValueError as error:
        return str(error)


def reproduce(device):
    return load(lambda sampler: True)


def control(device):
    return load(lambda sampler: sampler is None)


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
