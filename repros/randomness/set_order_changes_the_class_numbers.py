# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Class numbers taken from a set change with every start of Python"
# kind = "silent"
# symptom = "the class numbers differ between two starts"
# keywords = [
#     "predictions are wrong after loading the checkpoint in a new process",
#     "label mapping changes between runs",
#     "accuracy drops to chance after restart",
#     "os.environ['PYTHONHASHSEED'] has no effect",
#     "vocabulary order differs between runs",
#     "setting all seeds still gets different results",
# ]
# origin = "usage"
# reports = [
#     "https://github.com/tkipf/pygcn/issues/41",
#     "https://github.com/tristandeleu/pytorch-meta/issues/56",
#     "https://github.com/google-deepmind/dmvr/issues/6",
# ]
# documents = [
#     "https://docs.python.org/3/using/cmdline.html#envvar-PYTHONHASHSEED",
#     "https://github.com/pytorch/pytorch/issues/57491",
# ]
# wrong = '''
# classes = {name: number for number, name in enumerate(set(names))}
# '''
# right = '''
# classes = {name: number for number, name in enumerate(sorted(set(names)))}
# '''
# affected = { cpu = ">=1.13" }
# ///
"""The order of a set of strings follows their hashes, which Python salts anew in every process
(docs.python.org: PYTHONHASHSEED); torch.manual_seed() does not touch it. A checkpoint keeps
the weights of output 3 and not the class that it stood for. The two starts are given two
salts here, as they would draw them.

os.environ["PYTHONHASHSEED"] = "0" in the script, one line of the usual seeding function
(pytorch#57491), comes too late: Python reads it once, as it starts.
"""

import os
import subprocess
import sys

START = "names = [f'class {i}' for i in range(20)]\n"
WRONG = "classes = {name: number for number, name in enumerate(set(names))}\n"
RIGHT = "classes = {name: number for number, name in enumerate(sorted(set(names)))}\n"
SEED = "import os; os.environ['PYTHONHASHSEED'] = '0'\n"


def run(lines, salt):
    script = START + lines + "print(sorted(classes.items()))"
    environment = {**os.environ, "PYTHONHASHSEED": salt}
    command = [sys.executable, "-S", "-c", script]
    return subprocess.run(command, env=environment, capture_output=True, check=True).stdout


def compare(lines):
    if run(lines, salt="1") != run(lines, salt="2"):
        return "the class numbers differ between two starts"


def reproduce(device):
    return compare(WRONG)


def control(device):
    return compare(RIGHT)


def popular_fix(device):
    return compare(SEED + WRONG)


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
