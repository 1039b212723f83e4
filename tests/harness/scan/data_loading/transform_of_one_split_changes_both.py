# Read as text by the tests of the rules, never run.
import copy
import torch
from torch.utils.data import random_split
from torchvision import transforms


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
