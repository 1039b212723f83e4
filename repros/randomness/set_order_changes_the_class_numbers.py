# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Class numbers taken from a set of strings change each time Python starts"
# kind = "silent"
# symptom = "the class numbers differ between two starts"
# origin = "usage"
# reports = [
#     "https://github.com/tkipf/pygcn/issues/41",
#     "https://github.com/google-deepmind/dmvr/issues/6",
# ]
# documents = [
#     "https://docs.python.org/3/using/cmdline.html#envvar-PYTHONHASHSEED",
#     "https://github.com/Lightning-AI/pytorch-lightning/issues/2156",
#     "https://github.com/pytorch/pytorch/issues/7068",
# ]
# wrong = '''
# checkpoint = {} if training else load(path)
# classes = {name: number for number, name in enumerate(set(names))}
# '''
# right = '''
# checkpoint = {} if training else load(path)
# if training:  # number them once; the checkpoint takes the numbers to all other processes
#     checkpoint["classes"] = {name: number for number, name in enumerate(sorted(set(names)))}
# classes = checkpoint["classes"]
# '''
# rule = "warning"
# when = "the elements are strings, and another process uses the numbers"
# affected = { cpu = ">=1.13" }
# ///
"""The order of a set of strings depends on their hashes, which Python salts differently at every
start (docs.python.org: PYTHONHASHSEED); torch.manual_seed() does not affect it. A checkpoint
contains the weights of output 3, but not the class that output 3 stands for. Here this process is
compared with two others, which use two fixed salts instead of random salts.

Using only sorted() is not enough, because the numbers depend on the names that a process happens to
see. In {bird, cat, dog}, the cat is 1, but in {cat, dog}, it is 0. The corrected code therefore
numbers the classes once and reads the numbers afterwards. If several machines train, let one of
them number the classes for all. A resumed run must read the numbers too: if `training` is true and
there are fewer names, this code would silently number the classes again. For a NumPy array, use
names.tolist(): if weights_only is True, torch.load() rejects a checkpoint with NumPy strings.

The usual seeding function sets os.environ["PYTHONHASHSEED"] = "0" (pytorch#7068). In the script
this is too late (Lightning-AI/pytorch-lightning#2156), because Python reads the variable only once,
when it starts.
"""

import json
import os
import subprocess
import sys
import tempfile

NAMES = [f"class {i}" for i in range(20)]
RESTART = "import runpy, sys; print(runpy.run_path(sys.argv[1])[sys.argv[2]](path=sys.argv[3]))"


def load(path):
    with open(path) as file:
        return json.load(file)


def from_set(training=False, path=None, names=NAMES):
    checkpoint = {} if training else load(path)
    classes = {name: number for number, name in enumerate(set(names))}
    return checkpoint, [classes[name] for name in names]


def from_checkpoint(training=False, path=None, names=NAMES):
    checkpoint = {} if training else load(path)
    if training:  # number them once; the checkpoint takes the numbers to all other processes
        checkpoint["classes"] = {name: number for number, name in enumerate(sorted(set(names)))}
    classes = checkpoint["classes"]
    return checkpoint, [classes[name] for name in names]


def from_checkpoint_for_some(training=False, path=None):
    checkpoint, numbers = from_checkpoint(training, path, NAMES if training else NAMES[::2])
    return checkpoint, numbers[::2] if training else numbers


def from_set_after_seeding(training=False, path=None):
    before = dict(os.environ)
    os.environ["PYTHONHASHSEED"] = "0"
    try:
        return from_set(training, path)
    finally:
        os.environ.clear()
        os.environ.update(before)


def restart(number, path, salt):
    command = [sys.executable, "-S", "-c", RESTART, __file__, number.__name__, path]
    environment = {**os.environ, "PYTHONHASHSEED": salt}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def compare(number):
    checkpoint, numbers = number(training=True)
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/checkpoint"
        with open(path, "w") as file:
            json.dump(checkpoint, file)
        starts = {restart(number, path, salt) for salt in "12"}
    if starts != {str((checkpoint, numbers))}:
        return "the class numbers differ between two starts"


def reproduce(device):
    return compare(from_set)


def control(device):
    return compare(from_checkpoint) or compare(from_checkpoint_for_some)


def popular_fix(device):
    return compare(from_set_after_seeding)


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
