# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A custom batch whose pin_memory() returns nothing becomes None"
# kind = "silent"
# symptom = "batch became None"
# origin = "usage"
# documents = ["https://pytorch.org/docs/stable/data.html#memory-pinning"]
# wrong = '''
# TODO
# '''
# fix = "data_loading.make_loader"
# affected = { cpu = ">=1.13", cuda = ">=1.13" }
# stand_in = { cpu = "the loader's own walk over a batch that holds no tensor" }
# ///
"""The loader replaces the batch by whatever its pin_memory() returns; a method that
pins in place and forgets `return self` erases it.
"""

from torch.utils.data._utils.pin_memory import (
    pin_memory,
)  # what the DataLoader calls on every batch


class Batch:
    def __init__(self, returns_self):
        self.returns_self = returns_self

    def pin_memory(self):
        return self if self.returns_self else None


def pinned(batch):
    if pin_memory(batch) is None:
        return "the batch became None"


def reproduce(device):
    return pinned(Batch(returns_self=False))


def control(device):
    return pinned(Batch(returns_self=True))


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
