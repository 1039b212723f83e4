# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "With the same seed, a model of a different size gets the training rows in a different order"
# kind = "silent"
# symptom = "the two models see the rows in different orders"
# origin = "design"
# reports = ["https://github.com/DeepLearnPhysics/lartpc_mlreco3d/issues/27"]
# documents = [
#     "https://docs.pytorch.org/docs/stable/notes/randomness.html#dataloader",
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/utils/data/sampler.py",
# ]
# wrong = '''
# torch.manual_seed(seed)
# model = torch.nn.Linear(4, width)
# loader = DataLoader(dataset, shuffle=True)
# '''
# right = '''
# torch.manual_seed(seed)
# model = torch.nn.Linear(4, width)
# generator = torch.Generator().manual_seed(seed)  # the seed of the run
# loader = DataLoader(dataset, shuffle=True, generator=generator)
# '''
# affected = { cpu = ">=1.13" }
# ///
"""The model's weights and the shuffle are drawn from the same global generator
(torch/utils/data/sampler.py). A model that draws more weights therefore leaves the generator in a
different state. If the loader has its own generator, the order depends only on that generator's
seed. Give random_split() its own generator too. Do not call torch.manual_seed() again between the
model and the loader: the training noise would then repeat the random numbers that the weights were
drawn from.

A WeightedRandomSampler accepts its own generator as well. Dropout still draws from the global
generator, and so does augmentation with num_workers=0. A different model leaves this generator in a
different state. The initial weights of layers that are created after a new layer come from that
generator too. An unused layer that is created first changes the results. An unused layer that is
created last changes them only through later draws, such as dropout.
"""

import torch
from torch.utils.data import DataLoader


def common(dataset, width, seed):
    torch.manual_seed(seed)
    model = torch.nn.Linear(4, width)
    loader = DataLoader(dataset, shuffle=True)
    return model, loader


def of_its_own(dataset, width, seed):
    torch.manual_seed(seed)
    model = torch.nn.Linear(4, width)
    generator = torch.Generator().manual_seed(seed)  # the seed of the run
    loader = DataLoader(dataset, shuffle=True, generator=generator)
    return model, loader


def orders(make, width, seed=0):
    with torch.random.fork_rng(devices=[]):  # so that this file leaves the seed as it was
        model, loader = make(range(100), width, seed)
        return [[int(row) for row in loader] for _ in range(2)]


def check(make):
    small = orders(make, 8)
    if small != orders(make, 9):
        return "the two models see the rows in different orders"
    if small[0] == small[1] or small == orders(make, 8, seed=1):
        return "two epochs, or two seeds, have one order"


def reproduce(device):
    return check(common)


def control(device):
    return check(of_its_own)


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
