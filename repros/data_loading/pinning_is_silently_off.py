# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "pin_memory=True is silently ignored without a usable accelerator"
# kind = "silent"
# symptom = "not pinned and there was no warning"
# messages = ["'pin_memory' argument is set as true but no accelerator is found"]
# elsewhere = ["'pin_memory' argument is set as true but not supported on MPS"]
# origin = "torch"
# reports = ["https://github.com/pytorch/pytorch/issues/124908"]
# fixed_by = "pytorch#131858"
# wrong = '''
# loader = DataLoader(dataset, pin_memory=True)
# '''
# right = '''
# pin = torch.cuda.is_available()
# print("batches are pinned" if pin else "nothing is pinned: torch.cuda.is_available() is False")
# loader = DataLoader(dataset, pin_memory=pin)
# '''
# fix = "data_loading.pin_decision"
# use = '''
# from data_loading import pin_decision
# decision = pin_decision(device)
# print(decision.reason)
# loader = DataLoader(dataset, pin_memory=decision.pin)
# '''
# choice = "Use the lines without the fix if the batches move to CUDA; use the fix if they may stay on the CPU or move to MPS"
# affected = { cpu = "<2.7", mps = "<2.7" }
# ///
"""Up to 2.6, the loader calls torch.cuda.is_available() and does not pin anything if the result is
False. From 2.7 on, the loader issues a warning, which Python shows once (pytorch#124908,
pytorch#131858). The corrected code prints the reason, but does not pin more than before. Even if a
batch is pinned, the host waits for the copy unless it is made with non_blocking=True (docs:
tutorials, pinmem_nonblock). Without CUDA, the corrected code turns pinning off, even on Intel's
XPU.
"""

import contextlib
import io
import warnings

import torch
from torch.utils.data import DataLoader


def warned(loader):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        (batch,) = loader
    return batch, "\n".join(str(one.message) for one in caught if "pin" in str(one.message))


def check(loader):
    batch, texts = warned(loader)
    if batch.is_pinned() != loader.pin_memory and not texts:
        return "the batch is not pinned and there was no warning"


def reproduce(device):
    dataset = torch.ones(1, device=device).cpu()  # raises where there is no such device
    loader = DataLoader(dataset, pin_memory=True)
    return check(loader)


def control(device):
    dataset, log = torch.ones(1), io.StringIO()
    with contextlib.redirect_stdout(log):
        pin = torch.cuda.is_available()
        print(
            "batches are pinned" if pin else "nothing is pinned: torch.cuda.is_available() is False"
        )
        loader = DataLoader(dataset, pin_memory=pin)
    if loader.pin_memory != log.getvalue().startswith("batches are"):
        return f"the log says {log.getvalue()!r}"
    return check(loader)


def messages(device):
    return warned(DataLoader(torch.ones(1), pin_memory=True))[1]


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control, messages):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
