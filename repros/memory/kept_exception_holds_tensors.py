# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "An exception kept for logging keeps the failed step's tensors alive"
# kind = "leak"
# symptom = "kept exception holds the activations"
# origin = "design"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/27600",
#     "https://github.com/pytorch/pytorch/issues/10348",
# ]
# documents = ["https://docs.python.org/3/library/traceback.html#traceback.clear_frames"]
# wrong = '''
# try:
#     step(batch)
# except RuntimeError as error:
#     errors.append(error)
# '''
# right = '''
# import traceback
# try:
#     step(batch)
# except RuntimeError:
#     errors.append(traceback.format_exc())
# '''
# fix = "memory.drop_frames"
# use = '''
# from memory import drop_frames
# try:
#     step(batch)
# except RuntimeError as error:
#     errors.append(drop_frames(error))
# '''
# choice = "The lines without the fix keep only the text; use the fix if the exception itself has to be raised or sent later"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The tensors of a failed step are not freed while its exception is kept in a list or a variable
(pytorch#27600), and gc.collect() does not help.

The traceback, error.__traceback__, refers to the step's frames, and the frames refer to their local
variables. The exception's cause and context refer to frames as well, and error.with_traceback(None)
does not clear those references. An interactive interpreter keeps the last uncaught exception in
sys.last_value and sys.last_traceback, and since Python 3.12 also in sys.last_exc (docs: sys).
"""

import gc
import traceback
import weakref

import torch


def start(device):
    seen = []

    def step(batch):
        activations = torch.ones(batch, device=device)
        seen.append(weakref.ref(activations))
        raise RuntimeError("no such class")

    return step, seen, []


def check(seen, errors):
    gc.collect()
    if seen[0]() is not None:
        return "the kept exception holds the activations of the failed step"
    if "no such class" not in errors[0] or "in step" not in errors[0]:
        return f"the log does not say what failed where: {errors[0]}"


def reproduce(device):
    (step, seen, errors), batch = start(device), 3
    try:
        step(batch)
    except RuntimeError as error:
        errors.append(error)
    return check(seen, errors)


def control(device):
    (step, seen, errors), batch = start(device), 3
    try:
        step(batch)
    except RuntimeError:
        errors.append(traceback.format_exc())
    return check(seen, errors)


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
