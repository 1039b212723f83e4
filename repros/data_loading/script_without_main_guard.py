# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A script without the main guard starts workers that start workers"
# kind = "error"
# symptom = "before the current process has finished its bootstrapping phase"
# messages = [
#     "attempt has been made to start a new process before the\\s{1,20}current process has finished its bootstrapping phase",
#     "forgotten to use the proper idiom\\s{1,20}in the main module",
# ]
# origin = "usage"
# reports = [
#     "https://github.com/Project-MONAI/MONAI/issues/755",
#     "https://github.com/patrickloeber/pytorch-chatbot/issues/2",
#     "https://github.com/hezhangsprinter/DID-MDN/issues/3",
# ]
# documents = [
#     "https://docs.pytorch.org/docs/stable/data.html#platform-specific-behaviors",
#     "https://docs.python.org/3/library/multiprocessing.html#the-spawn-and-forkserver-start-methods",
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/utils/data/dataloader.py",
# ]
# wrong = '''
# for batch in loader:
#     train(batch)
# '''
# right = '''
# if __name__ == "__main__":  # all but imports, functions and classes: each worker runs the rest
#     for batch in loader:
#         train(batch)
# '''
# rule = "warning"
# when = "workers are spawned, as on Windows and macOS"
# affected = { cpu = ">=1.13" }
# stand_in = { cpu = "a call with the name __mp_main__ and the flag of a starting process stands in for the import in a spawned worker" }
# ///
"""A spawned worker first imports the main script, under the name __mp_main__ (docs.python.org:
multiprocessing, the spawn start method). If the script iterates over the loader at its top level,
the worker starts workers too, which Python rejects. The worker ends, and the main process raises
"DataLoader worker exited unexpectedly" (torch/utils/data/dataloader.py).

Code outside the guard runs again in each worker, for example code that prints, downloads, or opens
a file for writing. A call to freeze_support(), which the message mentions, changes nothing without
the guard. Windows and macOS spawn workers (docs: torch.utils.data, Platform-specific behaviors).
With a forkserver, the default on Linux from Python 3.14 on, the server imports the script once for
all workers. Without the guard the server ends, and the main process raises "EOFError: unexpected
EOF" (emulated on Python 3.11).
"""

from multiprocessing import current_process, freeze_support

from torch.utils.data import DataLoader


def unguarded(loader, train, __name__):
    for batch in loader:
        train(batch)


def guarded(loader, train, __name__):
    if __name__ == "__main__":  # all but imports, functions and classes: each worker runs the rest
        for batch in loader:
            train(batch)


def frozen(loader, train, __name__):
    freeze_support()
    unguarded(loader, train, __name__)


def import_in_worker(script):
    loader = DataLoader([1, 2], num_workers=1, multiprocessing_context="spawn")
    current_process()._inheriting = True  # what multiprocessing/spawn.py does as a worker starts
    try:
        script(loader, print, "__mp_main__")
    except RuntimeError as error:
        return " ".join(str(error).split())
    finally:
        del current_process()._inheriting


def reproduce(device):
    return import_in_worker(unguarded)


def control(device):
    read = []
    guarded(DataLoader([1, 2]), lambda batch: read.append(batch.item()), "__main__")
    return import_in_worker(guarded) or (None if read == [1, 2] else f"{read} was read")


def popular_fix(device):
    return import_in_worker(frozen)


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
