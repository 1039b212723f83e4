import os

import torch


def trains(model, loader):
    torch.use_deterministic_algorithms(True)  # finds deterministic_mode_raises
    for x in loader:
        model(x.to("cuda")).sum().backward()


def also_trains(model, loader):
    torch.use_deterministic_algorithms(mode=True)  # finds deterministic_mode_raises
    print(os.environ.get("CUBLAS_WORKSPACE_CONFIG"))


def warns():
    torch.use_deterministic_algorithms(True, warn_only=True)


def leaves():
    torch.use_deterministic_algorithms(False)


def tries():
    try:
        torch.use_deterministic_algorithms(True)
    except RuntimeError:
        print("no deterministic algorithms")
