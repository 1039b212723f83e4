# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Pinning changes the type of a batch: tuples come out as lists"
# kind = "silent"
# symptom = "tuple came out as list"
# origin = "usage"
# reports = ["https://github.com/pytorch/pytorch/issues/48419"]
# documents = ["https://github.com/pytorch/pytorch/pull/169690"]
# wrong = '''
# TODO
# '''
# fix = "data_loading.make_loader"
# affected = { cpu = "<2.10", cuda = "<2.10" }
# stand_in = { cpu = "the loader's own walk over a batch that holds no tensor" }
# ///
"""Until 2.9 the walk rebuilt tuples as lists "for backwards compatibility", so
isinstance(batch, tuple) holds on a laptop and fails on the GPU machine.

torch 2.10 keeps the tuple (torch/utils/data/_utils/pin_memory.py).
"""

from torch.utils.data._utils.pin_memory import (
    pin_memory,
)  # what the DataLoader calls on every batch


def pinned_type(batch):
    after = pin_memory(batch)
    if type(after) is not type(batch):
        return f"a {type(batch).__name__} came out as {type(after).__name__}"


def reproduce(device):
    return pinned_type(("id-1", "id-2"))


def control(device):
    return pinned_type(["id-1", "id-2"])


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
