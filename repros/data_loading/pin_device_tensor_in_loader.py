# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A DataLoader with pin_memory over tensors on the device raises"
# kind = "error"
# symptom = "cannot pin '.*' only dense CPU tensors can be pinned"
# messages = ["cannot pin '[^']{0,200}' only dense CPU tensors can be pinned"]
# origin = "usage"
# reports = ["https://github.com/unit8co/darts/issues/436"]
# documents = ["https://pytorch.org/docs/stable/data.html#memory-pinning"]
# wrong = '''
# TODO
# '''
# fix = "data_loading.make_loader"
# affected = { cpu = ">=1.13", cuda = ">=1.13" }
# stand_in = { cpu = "a meta tensor: like a GPU tensor, it is not a CPU tensor and cannot be pinned" }
# ///
"""The loader pins every tensor of a batch, wherever it is. Device tensors come from the
dataset, or from a collate function that moves them.

Asking torch.cuda.is_available() first is the wrong question: it is true exactly where
the error is raised.
"""

import contextlib
from unittest import mock

import torch
from torch.utils.data import DataLoader, TensorDataset


def first_batch(device, pin_memory):
    with contextlib.ExitStack() as stack:
        if (
            device == "cpu"
        ):  # without an accelerator the loader ignores pin_memory, so it is told that there is one
            stack.enter_context(mock.patch("torch.cuda.is_available", return_value=True))
            if hasattr(torch, "accelerator"):
                stack.enter_context(mock.patch("torch.accelerator.is_available", return_value=True))
                stack.enter_context(
                    mock.patch(
                        "torch.accelerator.current_accelerator", return_value=torch.device("cuda")
                    )
                )
        data = torch.ones(4, device="meta" if device == "cpu" else device)
        loader = DataLoader(TensorDataset(data), pin_memory=pin_memory())
        try:
            next(iter(loader))
        except RuntimeError as error:
            return str(error)


def reproduce(device):
    return first_batch(device, pin_memory=lambda: True)


def control(device):
    return first_batch(device, pin_memory=lambda: False)


def popular_fix(device):
    return first_batch(device, pin_memory=lambda: torch.cuda.is_available())


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control, popular_fix):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
