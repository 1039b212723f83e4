# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Pinning changes the type of a batch: tuples become lists"
# kind = "silent"
# symptom = "tuple came out as list"
# origin = "torch"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/48419",
#     "https://github.com/fastai/fastai/issues/2795",
# ]
# documents = ["https://github.com/pytorch/pytorch/pull/169690"]
# fixed_by = "pytorch#169690"
# wrong = '''
# for batch in DataLoader(rows, collate_fn=tuple, pin_memory=True):
#     assert isinstance(batch, tuple)
# '''
# right = '''
# for batch in DataLoader(rows, collate_fn=tuple, pin_memory=True):
#     batch = tuple(batch)  # a list, where torch before 2.10 has pinned it
#     assert isinstance(batch, tuple)
# '''
# fix = "data_loading.Prefetcher"
# use = '''
# from data_loading import Prefetcher
# for batch in Prefetcher(DataLoader(rows, collate_fn=tuple), device):
#     assert isinstance(batch, tuple)
# '''
# choice = "Use the lines without the fix if the batch itself is the tuple; use the fix if tuples are nested or of a custom class"
# affected = { cpu = "<2.10", cuda = "<2.10" }
# stand_in = { cpu = "a loader that is told that an accelerator exists, with a batch that contains no tensor" }
# ///
"""Up to 2.9, pinning turned every tuple except named tuples into a list. Code that expects a tuple
then fails only if a batch is pinned (pytorch#48419, fastai/fastai#2795). From 2.10 on, tuples stay
tuples (pytorch#169690). In all releases, the loader's own default_collate() turns tuples other than
named tuples into lists, pinned or not, and the corrected line helps in this case too. The line
converts only the batch itself: nested tuples stay lists.
"""

from unittest import mock

import torch
from torch.utils.data import DataLoader


def told_of_an_accelerator(loop, rows, device):
    torch.ones(1, device=device)  # raises where there is no such device
    if device != "cpu":
        return loop(rows)
    # a loader pins only where it finds an accelerator: the stand-in tells it of one
    found = {"current_accelerator.return_value": torch.device("cuda")}
    with (
        mock.patch("torch.cuda.is_available", return_value=True),
        mock.patch("torch.accelerator", create=True, **found),
    ):
        return loop(rows)


def as_it_comes(rows):
    for batch in DataLoader(rows, collate_fn=tuple, pin_memory=True):
        if not isinstance(batch, tuple):
            return f"a tuple came out as {type(batch).__name__}"


def made_a_tuple(rows):
    for batch in DataLoader(rows, collate_fn=tuple, pin_memory=True):
        batch = tuple(batch)  # a list, where torch before 2.10 has pinned it
        assert isinstance(batch, tuple)
    if batch != ("id-1",):
        return f"{batch} instead of the row"


def reproduce(device):
    return told_of_an_accelerator(as_it_comes, ["id-1"], device)


def control(device):
    return told_of_an_accelerator(made_a_tuple, ["id-1"], device)


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
