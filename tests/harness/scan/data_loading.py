# Read as text by the tests of the rules, never run.
import copy
import random
from functools import partial

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset, Subset, random_split
from torchvision import transforms


class Noisy(Dataset):
    def __init__(self, rows, seed=0):
        self.rows = rows
        self.generator = np.random.default_rng(seed)  # finds worker_generators_are_clones

    def __getitem__(self, index):
        return self.rows[index] + self.generator.normal()


class NoisyRows(Dataset):
    def __init__(self, rows):
        self.rows, self.noise = rows, random.Random(0)  # finds worker_generators_are_clones

    def __getitem__(self, index):
        return self.rows[index] + self.noise.random()


class Cropped(torch.utils.data.Dataset):
    def __init__(self, rows, generator=None):
        self.rows = rows
        self.generator = generator or torch.Generator()  # finds worker_generators_are_clones

    def crop(self, row):
        start = torch.randint(9, (1,), generator=self.generator)
        return row[start:]

    def __getitem__(self, index):
        return self.crop(self.rows[index])


class SeededFromOutside(Dataset):
    def __init__(self, rows):
        self.rows = rows
        self.draws = random.Random(0)
        self.coin = random.Random(0)

    def __getitem__(self, index):
        return self.rows[index] + self.draws.random() + self.coin.random()


def start_worker(number):
    dataset = torch.utils.data.get_worker_info().dataset
    dataset.draws = random.Random(number)
    dataset.coin.seed(number)


class ShuffledOnce(Dataset):
    def __init__(self, rows):
        self.rows = rows
        self.generator = random.Random(0)
        self.generator.shuffle(self.rows)

    def __getitem__(self, index):
        return self.rows[index]


class SeededByRow(Dataset):
    def __init__(self, rows):
        self.rows = rows
        self.generator = random.Random(0)

    def __getitem__(self, index):
        self.generator.seed(index)
        return self.rows[index] + self.generator.random()


class MadeInTheWorker(Dataset):
    def __init__(self, rows):
        self.rows = rows
        self.generator = random.Random(0)

    def start(self, seed):
        self.generator = random.Random(seed)

    def __getitem__(self, index):
        return self.rows[index] + self.generator.random()


class Shards(IterableDataset):
    def __init__(self, rows):
        self.rows = rows
        self.generator = random.Random(0)

    def __getitem__(self, index):
        return self.rows[self.generator.randrange(9)]


class TakesAnother(Dataset):
    def __init__(self, rows):
        self.rows = rows
        self.generator = random.Random(0)

    def __getitem__(self, index):
        while self.rows[index] is None:
            index = self.generator.randrange(len(self.rows))
        return self.rows[index]


def reads_too_early(scores):
    host = scores.to("cpu", non_blocking=True)  # finds nonblocking_to_host_races
    return host.numpy()


def stacks_too_early(model, batches):
    outputs = []
    for batch in batches:
        output = model(batch).to(device="cpu", non_blocking=True)  # finds nonblocking_to_host_races
        outputs.append(output)
    return torch.cat(outputs)


def compares_too_early(scores):
    host = torch.empty(8, pin_memory=True)
    host.copy_(scores, non_blocking=True)  # finds nonblocking_to_host_races
    return host > 0.5


def reads_in_time(scores):
    host = scores.to("cpu", non_blocking=True)
    torch.cuda.synchronize()
    return host.numpy()


def reads_after_an_event(scores, event):
    host = scores.to("cpu", non_blocking=True)
    event.wait()
    return host.sum()


def reads_after_a_blocking_copy(scores, lengths):
    host = scores.to("cpu", non_blocking=True)
    lengths = lengths.to("cpu")
    return host.sum() / lengths.numpy()


def reads_after_a_fence(scores, fence):
    host = scores.to("cpu", non_blocking=True)
    fence()
    return host.numpy()


def copies_to_the_device(scores):
    there = scores.to("cuda", non_blocking=True)
    return there.sum().item()


def blocks(scores, wait):
    host = scores.to("cpu", non_blocking=wait)
    return host.numpy()


def moves_back(model, hidden):
    hidden = hidden.to("cpu", non_blocking=True)
    hidden = hidden.to("cuda", non_blocking=True)
    return model(hidden)


def validates_without_augmentation(images, plain):
    train, val = random_split(images, [8, 2])
    val.dataset.transform = plain  # finds transform_of_one_split_changes_both
    return train, val


def tests_without_augmentation(images, plain):
    train, val, test = torch.utils.data.random_split(images, [6, 2, 2])
    test.dataset.augment = False  # finds transform_of_one_split_changes_both
    return train, val, test


def normalises_all(images, mean, std):
    train, val = random_split(images, [8, 2])
    train.dataset.transform = transforms.Normalize(mean, std)
    return train, val


def gives_a_copy_to_one(images, plain):
    train, val = random_split(images, [8, 2])
    val.dataset = copy.copy(images)
    val.dataset.transform = plain
    return train, val


def changes_the_part(images, names):
    train, val = random_split(images, [8, 2])
    val.dataset.names = names
    return train, val


def changes_a_dataset(loader, images, plain):
    train, val = random_split(images, [8, 2])
    loader.dataset.transform = plain
    return train, val


def splits_augmented(images_in):
    flip = transforms.Compose([transforms.RandomHorizontalFlip(), transforms.ToTensor()])
    images = images_in("photos", transform=flip)
    train, val = random_split(images, [8, 2])  # finds split_shares_its_transform
    return train, val


def splits_by_name(images_in, augment):
    train, val = random_split(  # finds split_shares_its_transform
        images_in("photos", transform=augment), [8, 2]
    )
    return train, val


def splits_off_a_part(images_in, augment):
    images = images_in("photos", transform=augment)
    train, _ = random_split(images, [8, 2])
    return train


def splits_plain(images_in):
    images = images_in("photos", transform=transforms.ToTensor())
    train, val = random_split(images, [8, 2])
    return train, val


def splits_indices(images_in, augment):
    images = images_in("photos", transform=augment)
    train, val = random_split(images, [8, 2])
    val = Subset(images_in("photos", transform=None), val.indices)
    return train, val


def splits_an_unknown_one(images):
    train, val = random_split(images, [8, 2])
    return train, val


def trains_on_one_batch(rows, train):
    loader = DataLoader(rows, batch_size=8)
    for _ in range(100):
        train(next(iter(loader)))  # finds next_iter_restarts_the_loader


def trains_on_one_batch_in_order(rows, train):
    loader = DataLoader(rows, batch_size=8, shuffle=False)
    while True:
        batch = next(iter(loader))  # finds next_iter_restarts_the_loader
        train(batch)


def trains_on_shuffled_batches(rows, train):
    loader = DataLoader(rows, batch_size=8, shuffle=True)
    for _ in range(100):
        train(next(iter(loader)))


def looks_at_one_batch(rows):
    loader = DataLoader(rows, batch_size=8)
    return next(iter(loader))


def shows_the_same_rows(rows, train, show):
    val_loader = DataLoader(rows, batch_size=8)
    for _ in range(100):
        train()
        show(next(iter(val_loader)))


def looks_at_each_loader(several):
    for rows in several:
        loader = DataLoader(rows, batch_size=8)
        print(next(iter(loader)))


def shuffles_twice(rows, weights):
    sampler = torch.utils.data.WeightedRandomSampler(weights, 8)
    return DataLoader(rows, sampler=sampler, shuffle=True)  # finds sampler_excludes_shuffle


def shuffles_batches_twice(rows, batches):
    return DataLoader(  # finds sampler_excludes_shuffle
        rows, batch_sampler=torch.utils.data.BatchSampler(batches, 8, False), shuffle=True
    )


def shuffles_once(rows, weights):
    sampler = torch.utils.data.WeightedRandomSampler(weights, 8)
    return DataLoader(rows, sampler=sampler, shuffle=False)


def shuffles_without_a_sampler(rows, sampler=None):
    return DataLoader(rows, sampler=sampler, shuffle=True)


class Inherits(Dataset):
    def loader(self):
        return DataLoader(self.rows, sampler=self.sampler, shuffle=True)


def shuffles_alone(rows):
    return DataLoader(rows, sampler=None, shuffle=True)


def sends_a_lambda(rows):
    return DataLoader(rows, num_workers=4, collate_fn=lambda b: b)  # finds lambda_cannot_be_pickled


def sends_nothing(rows, workers=0):
    return DataLoader(rows, num_workers=workers, collate_fn=lambda b: b)


def sends_at_times(rows, workers=0):
    take = lambda b: b
    return DataLoader(
        rows,
        num_workers=workers,
        collate_fn=take,  # finds lambda_cannot_be_pickled
    )


def sends_more(rows, count):
    return sends_at_times(rows, workers=count)


def sends_a_local_function(rows, workers):
    def collate(batch):
        return batch

    return DataLoader(
        rows,
        num_workers=workers,
        collate_fn=collate,  # finds lambda_cannot_be_pickled
    )


def first(batch):
    return batch[0]


def sends_a_function(rows):
    return DataLoader(rows, num_workers=4, collate_fn=first)


def sends_a_partial(rows):
    return DataLoader(rows, num_workers=4, collate_fn=partial(first))


def has_no_workers(rows):
    return DataLoader(rows, collate_fn=lambda batch: batch)


def forks(rows):
    return DataLoader(
        rows, num_workers=4, multiprocessing_context="fork", collate_fn=lambda batch: batch
    )
