# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A for loop over a Dataset runs past its length if __getitem__ never raises IndexError"
# kind = "silent"
# symptom = "row 4 of 3 was read"
# origin = "design"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/3636",
#     "https://github.com/pytorch/pytorch/issues/45040",
# ]
# documents = [
#     "https://docs.python.org/3/reference/datamodel.html#object.__getitem__",
#     "https://github.com/pytorch/pytorch/issues/82732",
# ]
# wrong = '''
# for row in dataset:
#     read.append(row)
# '''
# right = '''
# for index in range(len(dataset)):
#     row = dataset[index]
#     read.append(row)
# '''
# affected = { cpu = ">=1.13" }
# ///
"""A map-style Dataset has no __iter__, so a for loop counts up from 0 until __getitem__ raises an
IndexError. The loop never checks the length (docs.python.org: object.__getitem__). If __getitem__
computes its row, for example from a file name, a modulo or a random crop, it never raises an
IndexError. The loop then never ends, or ends with another error because a file or a key is missing.
If __getitem__ indexes a list, an array or a tensor, the loop ends correctly. Loop over
range(len(dataset)), or use a DataLoader, which also converts numbers to tensors.

Conversely, if a bug in __getitem__ raises an IndexError, the loop silently ends early
(pytorch#82732). Looping over the length reveals the bug.
"""

from torch.utils.data import Dataset


class TooFar(Exception):
    """Ends a loop that would go on for ever."""


class Rows(Dataset):
    def __len__(self):
        return 3

    def __getitem__(self, index):
        if index > 10:
            raise TooFar
        return index


def reproduce(device):
    dataset, read = Rows(), []
    try:
        for row in dataset:
            read.append(row)
    except TooFar:
        return f"row {read[3] + 1} of 3 was read"


def control(device):
    dataset, read = Rows(), []
    for index in range(len(dataset)):
        row = dataset[index]
        read.append(row)
    if read != [0, 1, 2]:
        return f"{read} was read"


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
