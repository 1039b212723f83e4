import torch.nn as nn
from torch.nn import BatchNorm2d


DECAY = 0.997


def norms(momentum):
    nn.BatchNorm1d(2, eps=1e-3, momentum=0.99)  # finds batchnorm_momentum_of_tensorflow
    BatchNorm2d(2, 1e-3, DECAY)  # finds batchnorm_momentum_of_tensorflow
    nn.BatchNorm1d(2, momentum=0.01)
    nn.BatchNorm1d(2, momentum=1 - 0.99)
    nn.BatchNorm1d(2, momentum=None)
    nn.BatchNorm1d(2, momentum=momentum)
    nn.BatchNorm1d(2, momentum=1)
    nn.BatchNorm1d(2, momentum=0.99, track_running_stats=False)
    nn.LazyBatchNorm1d(momentum=0.1)
