"""Rows that are computed, and rows of which one cannot be read."""

from torch.utils.data import Dataset

SETTINGS = ("plain",)


class Rows(Dataset):
    def __len__(self):
        return 3

    def __getitem__(self, index):
        if index > 100:
            raise RuntimeError("it does not stop")
        return {"name": f"{index % 3}.png", "row": index % 3}


class Broken(Rows):
    def __getitem__(self, index):
        return {"name": f"{index}.png", "row": [7, 8][index]}  # the third is missing


def place(t):
    found = []
    for dataset in (Rows(), Broken()):
        read = []
        try:
            paste
        except IndexError:
            read.append("missing")
        found.append(read)
    return found


def reference(t):
    first, second, third = ({"name": f"{n}.png", "row": n} for n in range(3))
    return [[first, second, third], [{**first, "row": 7}, {**second, "row": 8}, "missing"]]
