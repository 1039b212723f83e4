# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "The DataLoader transposes samples that are lists"
# kind = "silent"
# symptom = "the box of the first image is \\[1, 5\\]"
# origin = "design"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/23141",
#     "https://github.com/pytorch/pytorch/issues/50272",
#     "https://github.com/goldener-data/goldener/issues/202",
# ]
# documents = ["https://github.com/pytorch/pytorch/blob/v2.13.0/torch/utils/data/_utils/collate.py"]
# wrong = '''
# def __getitem__(self, index):
#     return self.images[index], self.boxes[index]  # [left, top, right, bottom]
# '''
# right = '''
# def __getitem__(self, index):
#     return self.images[index], torch.tensor(self.boxes[index])
# '''
# affected = { cpu = ">=1.13" }
# ///
"""A batch of two boxes with four numbers each becomes a list of four tensors with two numbers each.
Here boxes[0] holds the left edge of every box, not the box of the first image.

For default_collate(), a list is a sample of several fields, which it collates field by field; only
tensors and arrays are stacked (torch/utils/data/_utils/collate.py, pytorch#50272). If the batch
size happens to equal the number of entries in a sample, the shapes fit and no error is raised.
Lists of strings cannot become tensors: pass collate_fn=list, which stacks nothing and leaves each
sample unchanged. A batch of TensorDataset(x) is also a list, but its only tensor is correct: unpack
it with for (x,) in loader.
"""

import torch
from torch.utils.data import DataLoader, Dataset


class Boxed(Dataset):
    images = torch.zeros(2, 3, 8, 8)
    boxes = [[1, 2, 3, 4], [5, 6, 7, 8]]

    def __len__(self):
        return 2

    def __getitem__(self, index):
        return self.images[index], self.boxes[index]  # [left, top, right, bottom]


class Tensors(Boxed):
    def __getitem__(self, index):
        return self.images[index], torch.tensor(self.boxes[index])


def load(dataset):
    ((images, boxes),) = DataLoader(dataset, batch_size=2)
    if boxes[0].tolist() != dataset.boxes[0]:
        return f"the box of the first image is {boxes[0].tolist()}"


def reproduce(device):
    return load(Boxed())


def control(device):
    return load(Tensors())


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
