import random

import numpy as np
import torch


def shuffles(x, y):
    x = x[torch.randperm(len(x))]
    y = y[torch.randperm(len(y))]  # finds labels_are_shuffled_separately
    return x, y


def shuffles_in_place(images, labels):
    np.random.shuffle(images)
    np.random.shuffle(labels)  # finds labels_are_shuffled_separately


def shuffles_together(x, y):
    order = torch.randperm(len(x))
    x, y = x[order], y[order]
    return x, y


def seeds_again(x, y, train_files, test_files):
    np.random.seed(0)
    np.random.shuffle(x)
    np.random.seed(0)
    np.random.shuffle(y)
    random.shuffle(train_files)
    random.shuffle(test_files)
