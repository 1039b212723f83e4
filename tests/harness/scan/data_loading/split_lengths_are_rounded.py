from torch.utils.data import random_split


def splits(dataset, n):
    first = random_split(  # finds split_lengths_are_rounded
        dataset, [int(0.8 * len(dataset)), int(0.2 * len(dataset))]
    )
    train, val = int(n * 0.7), int(n * 0.3)
    second = random_split(dataset, [train, val])  # finds split_lengths_are_rounded
    rest = n - train
    return first, second, random_split(dataset, [train, rest]), random_split(dataset, [0.8, 0.2])
