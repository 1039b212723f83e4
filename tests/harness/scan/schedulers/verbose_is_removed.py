import torch
from torch.optim import lr_scheduler
from torch.optim.lr_scheduler import ReduceLROnPlateau

from .callbacks import EarlyStopping


def plateau(optimizer):
    return ReduceLROnPlateau(optimizer, "max", patience=3, verbose=True)  # finds verbose_is_removed


def steps(optimizer):
    return lr_scheduler.StepLR(optimizer, 30, verbose=False)  # finds verbose_is_removed


def silent(optimizer):
    return ReduceLROnPlateau(optimizer, "max", patience=3)


def other_options(optimizer, verbose):
    if verbose:
        print("starting")
    return EarlyStopping(patience=3, verbose=True), torch.optim.lr_scheduler.StepLR(optimizer, 30)


def on_every_release(optimizer):
    try:
        return ReduceLROnPlateau(optimizer, verbose=True)
    except TypeError:
        return ReduceLROnPlateau(optimizer)
