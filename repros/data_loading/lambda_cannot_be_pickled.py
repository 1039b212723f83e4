# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A lambda in the dataset, collate_fn or worker_init_fn cannot be sent to spawned workers"
# kind = "error"
# symptom = "Can't (?:pickle|get) local object"
# messages = [
#     "Can.t pickle local object .?\\S{1,200}<locals>",
#     "Can.t pickle <function \\S{0,120}<lambda>",
#     "attribute lookup <lambda> on \\S{1,60} failed",
#     "Got pickle error when attempting to start a worker Process",
# ]
# elsewhere = ["Can.t get local object .?\\S{1,200}<locals>"]
# origin = "design"
# reports = [
#     "https://github.com/taoyang1122/MutualNet/issues/5",
#     "https://github.com/HazyResearch/cartridges/issues/20",
#     "https://github.com/junyanz/pytorch-CycleGAN-and-pix2pix/issues/1197",
# ]
# documents = [
#     "https://docs.pytorch.org/docs/stable/data.html#platform-specific-behaviors",
#     "https://docs.python.org/3/library/pickle.html#what-can-be-pickled-and-unpickled",
#     "https://docs.python.org/3/library/multiprocessing.html#contexts-and-start-methods",
# ]
# wrong = '''
# loader = DataLoader(rows, num_workers=1, collate_fn=lambda batch: batch[0])
# '''
# right = '''
# from operator import itemgetter
# loader = DataLoader(rows, num_workers=1, collate_fn=itemgetter(0))
# '''
# rule = "note"
# when = "num_workers is above 0 and workers are spawned (on Windows, on macOS, and on Linux from Python 3.14 on)"
# affected = { cpu = ">=1.13" }
# stand_in = { cpu = "/bin/true stands in for the worker's interpreter: the loader pickles before it starts the worker" }
# platform = "linux"
# ///
"""A spawned worker is a new interpreter. The loader uses pickle to send it the dataset, collate_fn
and worker_init_fn (docs: torch.utils.data, Platform-specific behaviors). Pickle refers to a
function by its name in a module, but a lambda or a nested function has no such name
(docs.python.org: pickle).

Workers are spawned on Windows and macOS. On Linux before Python 3.14, they are forked, and nothing
is pickled. From 3.14 on, the default is forkserver, which pickles too (docs.python.org:
multiprocessing). Use a function or a class that is defined at the top level of a module, or a
functools.partial of such a function or class. In a notebook, import the function from a file,
because a spawned worker does not run the notebook's cells.
"""

import warnings
from multiprocessing import resource_tracker, set_executable, spawn
from operator import itemgetter
from pickle import PicklingError

from torch.utils.data import DataLoader


def start(loader):
    loader.multiprocessing_context = "spawn"
    python = spawn.get_executable()
    resource_tracker.ensure_running()  # with Python
    set_executable("/bin/true")
    try:
        iter(loader)
    except (AttributeError, TypeError, PicklingError) as error:
        return str(error)
    finally:
        set_executable(python)


def reproduce(device):
    rows = [1, 2]
    loader = DataLoader(rows, num_workers=1, collate_fn=lambda batch: batch[0])
    return start(loader)


def control(device):
    rows = [1, 2]
    loader = DataLoader(rows, num_workers=1, collate_fn=itemgetter(0))
    if [loader.collate_fn([row]) for row in rows] != rows:
        return "not what the lambda gives"
    return start(loader)


first_of_all = lambda batch: batch[0]  # noqa: E731  found by no name, as its own is <lambda>


def messages(device):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        text = start(DataLoader([1, 2], num_workers=1, collate_fn=first_of_all))
    return "\n".join([text, *(str(one.message) for one in caught)])


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
