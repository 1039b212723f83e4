import torch.nn as nn


def norms(momentum):
    nn.BatchNorm1d(2, momentum=0)  # finds batchnorm_with_momentum_zero
    nn.SyncBatchNorm(2, 1e-3, 0.0)  # finds batchnorm_with_momentum_zero
    nn.BatchNorm1d(2, momentum=0, track_running_stats=False)
    nn.BatchNorm1d(2, momentum=1)
    nn.BatchNorm1d(2, momentum=None)
    nn.BatchNorm1d(2, momentum=momentum)
