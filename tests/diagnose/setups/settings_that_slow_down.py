import os

import torch

from tests.diagnose.trainers import trainer

RANKS = 1  # a process of its own, whose settings are changed here


def defaults():
    os.environ.pop("CUDA_LAUNCH_BLOCKING", None)
    torch.autograd.set_detect_anomaly(False)
    torch.use_deterministic_algorithms(False)
    torch.backends.cudnn.deterministic = False
    return trainer()


def anomaly_detection():
    names = defaults()
    torch.autograd.set_detect_anomaly(True)
    return names


def deterministic():
    names = defaults()
    torch.use_deterministic_algorithms(True)
    return names


def launches_wait():
    names = defaults()
    os.environ["CUDA_LAUNCH_BLOCKING"] = "1"
    return names


OUTCOMES = [[defaults], [anomaly_detection, deterministic, launches_wait]]
