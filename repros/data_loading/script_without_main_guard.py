# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A script without the main guard starts workers that start workers"
# kind = "error"
# symptom = "before the\\s+current process has finished its bootstrapping phase"
# messages = [
#     "attempt has been made to start a new process before the\\s{1,20}current process has finished its bootstrapping phase",
#     "forgotten to use the proper idiom\\s{1,20}in the main module",
# ]
# keywords = [
#     "if __name__ == '__main__' missing",
#     "num_workers > 0 on Windows",
#     "script runs twice when workers start",
#     "freeze_support",
#     "DataLoader in a notebook or script fails on macOS",
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
# ]
# wrong = '''
# list(loader)
# '''
# right = '''
# if __name__ == "__main__":
#     list(loader)
# '''
# affected = { cpu = ">=1.13" }
# timeout = 180.0
# ///
"""A spawned worker imports the main script first (docs.python.org: multiprocessing, the spawn
start method), and a script that iterates over the loader at its top level starts workers
of its own there. Python refuses that; the worker dies, and the main process says only that
a DataLoader worker exited unexpectedly.

A call of freeze_support(), which the message mentions, changes nothing without the guard.
Windows and macOS spawn (docs: torch.utils.data, Platform-specific behaviors).
"""

import re
import subprocess
import sys
import tempfile

LOADER = """
from multiprocessing import freeze_support
from torch.utils.data import DataLoader
loader = DataLoader([1, 2], num_workers=1, multiprocessing_context="spawn")
"""
WRONG = "list(loader)"
RIGHT = 'if __name__ == "__main__":\n    list(loader)'


def run(lines):
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/train.py", "w") as script:
            script.write(LOADER + lines)
        done = subprocess.run(
            [sys.executable, script.name], capture_output=True, text=True, cwd=folder
        )
    if done.returncode:
        found = re.search(r"An attempt has been made.*?phase", done.stderr, re.S)
        return found[0] if found else done.stderr


def reproduce(device):
    return run(WRONG)


def control(device):
    return run(RIGHT)


def popular_fix(device):
    return run("freeze_support()\n" + WRONG)


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
