# ruff: noqa
import torch
from torch.backends import cudnn


def flags(settings):
    with cudnn.flags(deterministic=True):  # finds cudnn_flags_drop_settings
        pass
    with torch.backends.cudnn.flags(benchmark=True):  # finds cudnn_flags_drop_settings
        pass
    with cudnn.flags(enabled=True, deterministic=True):
        pass
    with cudnn.flags(enabled=False):
        pass
    with cudnn.flags(**settings):
        pass
    with cudnn.flags():
        pass
    with torch.backends.mkldnn.flags(False):
        pass
