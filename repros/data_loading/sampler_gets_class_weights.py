# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "WeightedRandomSampler with one weight per class draws only the first rows of the dataset"
# kind = "silent"
# symptom = "only rows 0 and 1 of 100 were drawn"
# origin = "usage"
# documents = [
#     "https://docs.pytorch.org/docs/stable/data.html",
# ]
# wrong = '''
# sampler = torch.utils.data.WeightedRandomSampler(class_weights, len(labels))
# '''
# right = '''
# sampler = torch.utils.data.WeightedRandomSampler(class_weights[labels], len(labels))
# '''
# affected = { cpu = ">=1.13" }
# ///
"""With two classes, the loader delivers rows 0 and 1 over and over, and never the other rows.

The sampler draws numbers from 0 to len(weights) - 1 and uses them as row numbers (docs:
torch.utils.data.WeightedRandomSampler), so it needs one weight per row. Indexing the tensor of
class weights with the labels of all rows, in the order of the dataset, gives these weights. A
tensor of labels must be int64, so convert other dtypes with long(). Labels of int16, int8 or a
floating-point dtype cause an IndexError, and uint8 labels act as a mask. For a Subset, use only the
labels of its rows. With weights of 1 / labels.bincount(), all classes are drawn equally often. The
sampler already draws at random, so omit shuffle=True: if both are passed, DataLoader raises a
ValueError.
"""

import torch


def start(device):
    labels = (torch.arange(100) % 10 == 0).long()  # ten rows of class 1
    return labels, 1 / labels.bincount(minlength=2)


def check(labels, sampler):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        rows = torch.tensor(list(sampler))
    if rows.max() < 2:
        return "only rows 0 and 1 of 100 were drawn"
    if not 0.3 < labels[rows].float().mean() < 0.7:
        return "the classes are not balanced"


def reproduce(device):
    labels, class_weights = start(device)
    sampler = torch.utils.data.WeightedRandomSampler(class_weights, len(labels))
    return check(labels, sampler)


def control(device):
    labels, class_weights = start(device)
    sampler = torch.utils.data.WeightedRandomSampler(class_weights[labels], len(labels))
    return check(labels, sampler)


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
