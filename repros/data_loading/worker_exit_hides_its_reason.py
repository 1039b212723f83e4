# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "If a DataLoader worker exits, the error does not state the reason"
# kind = "error"
# symptom = "exited unexpectedly"
# messages = [
#     "DataLoader worker \\(pid\\(s\\) [\\d, ]{1,400}\\) exited unexpectedly",
#     "DataLoader worker \\(pid \\d{1,9}\\) is killed by signal: (?:Killed|Terminated|Aborted|Segmentation fault|Illegal instruction|Floating point exception)",
# ]
# elsewhere = [
#     "_error_if(?=_any_worker_fails\\(\\)(?!.{0,40}?DataLoader worker \\(pid))",
#     "DataLoader worker \\(pid\\(s\\) \\.{3}\\) exited unexpectedly",
#     "DataLoader worker \\(pid [\\d, ]{1,400}\\) exited unexpectedly",
#     "Unexpected (?:segmentation fault|floating-point exception) encountered in worker",
#     "Details are lost due to multiprocessing\\. Rerunning with num_workers=0 may give better error trace",
# ]
# origin = "usage"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/5301",
#     "https://github.com/novioleo/FOTS/issues/23",
# ]
# documents = [
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/utils/data/_utils/worker.py",
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/utils/data/dataloader.py",
# ]
# wrong = '''
# if image is None:
#     sys.exit(f"image {index} is missing")
# '''
# right = '''
# if image is None:
#     raise FileNotFoundError(f"image {index} is missing")
# '''
# affected = { cpu = ">=1.13" }
# platform = "linux"
# ///
"""A worker catches Exception and sends the exception with its traceback to the main process
(torch/utils/data/_utils/worker.py). A worker can also end because of a signal or, as here, because
the dataset calls sys.exit(). In such cases, the main process learns only the process ID
(torch/utils/data/dataloader.py). Text passed to sys.exit() is only printed to the worker's stderr,
without a traceback (cpython: multiprocessing/process.py). Run once with num_workers=0 to see the
cause. If the cause is a segmentation fault, calling faulthandler.enable() in a worker_init_fn
prints the Python stack.

The corrected code helps if the dataset exits. A worker that is killed by a signal, such as SIGKILL
when memory runs out, causes the same messages. The corrected code does not help in that case.
"""

import os
import signal
import sys
import time

from torch.utils.data import DataLoader, Dataset


class Images(Dataset):
    def __init__(self, end):
        self.end = end

    def __len__(self):
        return 1

    def __getitem__(self, index):
        time.sleep(0.1)  # the loader waits by now: its signal handler raises wherever it is
        return self.end(None, index)


def exits(image, index):
    if image is None:
        sys.exit(f"image {index} is missing")


def raises(image, index):
    if image is None:
        raise FileNotFoundError(f"image {index} is missing")


def load(end):
    loader = DataLoader(Images(end), num_workers=1, multiprocessing_context="fork")
    try:
        list(loader)
    except (RuntimeError, FileNotFoundError) as error:
        return "\n".join(str(one) for one in (error, error.__cause__) if one)


def reproduce(device):
    text = load(exits)
    return None if "image 0 is missing" in text else text


def control(device):
    text = load(raises)
    return None if "image 0 is missing" in text else text


def messages(device):
    numbers = [signal.SIGKILL, signal.SIGTERM, signal.SIGABRT, signal.SIGSEGV, signal.SIGILL]
    texts = []
    for number in [*numbers, signal.SIGFPE]:

        def end(image, index, number=number):
            signal.signal(number, signal.SIG_DFL) if number != signal.SIGKILL else None
            os.kill(os.getpid(), number)

        texts.append(load(end))
    return "\n".join(texts)


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
