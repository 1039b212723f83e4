from collections import deque

import numpy as np


def latest(model, loader, criterion):
    losses = deque(maxlen=100)
    for x, y in loader:
        losses.append(criterion(model(x), y).item())
    return np.mean(losses)


def every_hundred_batches(model, loader, criterion):
    losses = []
    for i, (x, y) in enumerate(loader):
        losses.append(criterion(model(x), y).item())
        if i % 100 == 99:
            print(np.mean(losses))
            losses = []


def metered(model, loader, criterion, average_meter):
    meter = average_meter(window_size=20)
    for x, y in loader:
        meter.update(criterion(model(x), y).item())
    return meter.avg


def whole(model, loader, criterion):
    losses = []
    for x, y in loader:
        losses.append(criterion(model(x), y).item())
    return np.mean(losses)  # finds mean_of_batch_means
