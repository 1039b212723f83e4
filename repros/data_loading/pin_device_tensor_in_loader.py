# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A DataLoader with pin_memory=True fails if its tensors are already on the device"
# kind = "error"
# symptom = "cannot pin '.*' only dense CPU tensors can be pinned"
# messages = [
#     "cannot pin '[^']{0,200}' only dense CPU tensors can be pinned",
#     "[Oo]nly dense CPU tensors can be pinned",
# ]
# origin = "design"
# reports = [
#     "https://github.com/unit8co/darts/issues/436",
#     "https://github.com/DavidWBressler/GCNN/issues/2",
#     "https://github.com/hako-mikan/sd-webui-traintrain/issues/20",
# ]
# documents = ["https://github.com/pytorch/pytorch/blob/v2.13.0/torch/utils/data/_utils/pin_memory.py"]
# wrong = '''
# data = torch.ones(4, device=device)  # on the GPU already
# for batch in DataLoader(data, pin_memory=True):
#     train(batch)
# '''
# right = '''
# data = torch.ones(4, device=device)  # on the GPU already
# for batch in DataLoader(data, pin_memory=False):
#     train(batch)
# '''
# fix = "data_loading.Prefetcher"
# use = '''
# from data_loading import Prefetcher
# data = torch.ones(4)  # on the CPU
# for batch in Prefetcher(DataLoader(data), device):
#     train(batch)
# '''
# choice = "Use the lines without the fix if the data fits on the GPU; use the fix, which pins and moves each batch, if the data stays on the CPU"
# affected = { cpu = ">=1.13", cuda = ">=1.13" }
# stand_in = { cpu = "a meta tensor, which cannot be pinned, in a loader that is told that an accelerator exists" }
# ///
"""The loader pins every tensor of a batch, regardless of its device
(torch/utils/data/_utils/pin_memory.py). The tensors may have been moved to the device by the
dataset (hako-mikan/sd-webui-traintrain#20, unit8co/darts#436) or by a collate_fn
(DavidWBressler/GCNN#2). The corrected code assumes num_workers=0, the default, because forked
workers cannot use CUDA (docs: notes/multiprocessing).
"""

from contextlib import ExitStack
from unittest import mock

import torch
from torch.utils.data import DataLoader


def pins(device, train):
    data = torch.ones(4, device=device)  # on the GPU already
    for batch in DataLoader(data, pin_memory=True):
        train(batch)


def does_not_pin(device, train):
    data = torch.ones(4, device=device)  # on the GPU already
    for batch in DataLoader(data, pin_memory=False):
        train(batch)


def load(loop, device):
    read = []
    with ExitStack() as stack:
        if device == "cpu":
            # a loader pins only where it finds an accelerator: the stand-in tells it of one
            found = {"current_accelerator.return_value": torch.device("cuda")}
            stack.enter_context(mock.patch("torch.cuda.is_available", return_value=True))
            stack.enter_context(mock.patch("torch.accelerator", create=True, **found))
            device = "meta"
        try:
            loop(device, read.append)
        except RuntimeError as error:
            if "only dense CPU tensors" not in str(error):
                raise
            return str(error)
    if [(batch.device.type, *batch.shape) for batch in read] != [(device, 1)] * 4:
        return f"{read} instead of four batches on {device}"


def reproduce(device):
    return load(pins, device)


def control(device):
    return load(does_not_pin, device)


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
