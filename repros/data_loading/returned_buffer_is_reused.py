# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Rows that a Dataset returns from one reused buffer all become the last row"
# kind = "silent"
# symptom = "every row of the batch is the last row"
# origin = "usage"
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.from_numpy.html",
# ]
# wrong = '''
# def __getitem__(self, index):
#     self.buffer.copy_(self.rows[index])
#     return self.buffer
# '''
# right = '''
# def __getitem__(self, index):
#     self.buffer.copy_(self.rows[index])
#     return self.buffer.clone()
# '''
# affected = { cpu = ">=1.13" }
# ///
"""The loader reads all rows of a batch before it stacks them, and all these rows share the same
memory.

The loader asks the Dataset for one row after another, and the collate function copies the rows only
at the end (torch/utils/data/_utils/fetch.py). The dataset must therefore copy the buffer before
returning it. The same applies to a NumPy buffer, because torch.from_numpy() and torch.frombuffer()
share the memory of their argument (docs: torch.from_numpy). A loop that appends these tensors to a
list fails in the same way. With a batch size of 1, there is no symptom in the loader. With
batch_size=None, nothing is stacked, and all rows that the program keeps end up as copies of the
last row.
"""

import torch


class Rows(torch.utils.data.Dataset):
    def __init__(self):
        self.rows, self.buffer = torch.arange(6.0).reshape(3, 2), torch.zeros(2)

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        self.buffer.copy_(self.rows[index])
        return self.buffer


class CopiedRows(Rows):
    def __getitem__(self, index):
        self.buffer.copy_(self.rows[index])
        return self.buffer.clone()


def check(rows, device):
    (batch,) = torch.utils.data.DataLoader(rows, batch_size=3)
    if batch.to(device).eq(rows.rows[2].to(device)).all():
        return "every row of the batch is the last row"
    if not batch.equal(rows.rows):
        return f"the batch is {batch.tolist()}"


def reproduce(device):
    return check(Rows(), device)


def control(device):
    return check(CopiedRows(), device)


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
