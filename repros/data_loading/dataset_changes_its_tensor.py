# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "An in-place transform in __getitem__ changes the dataset itself, more with every epoch"
# kind = "silent"
# symptom = "the row is \\[-10.0, -9.0\\] in the third epoch"
# origin = "usage"
# reports = [
#     "https://github.com/pytorch/vision/issues/680",
#     "https://github.com/mindee/doctr/issues/840",
# ]
# documents = [
#     "https://docs.pytorch.org/docs/stable/tensor_view.html",
#     "https://github.com/facebookresearch/pycls/pull/21",
# ]
# wrong = '''
# def __getitem__(self, index):
#     row = self.rows[index]
#     row -= self.mean
#     return row
# '''
# right = '''
# def __getitem__(self, index):
#     row = self.rows[index]
#     row = row - self.mean
#     return row
# '''
# affected = { cpu = ">=1.13" }
# ///
"""The first epoch is right. In the second epoch, the mean is subtracted from the changed rows
again, and so on.

Indexing a tensor or a NumPy array with a number returns a view that shares its memory (docs: tensor
views). Operators such as -=, methods such as sub_(), and an assignment to row[...] therefore write
to the dataset. Forked workers write to their own copy. This hides the failure with num_workers > 0
(facebookresearch/pycls#21), as long as each epoch starts new workers and reads each row once. With
persistent_workers=True, or with a sampler that draws a row twice, the failure reappears. Spawned
workers share a tensor's memory, so they do not hide the failure.
"""

import torch


class Rows(torch.utils.data.Dataset):
    def __init__(self):
        self.rows, self.mean = torch.tensor([[5.0, 6.0]]), torch.tensor(5.0)

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        row = self.rows[index]
        row -= self.mean
        return row


class UnchangedRows(Rows):
    def __getitem__(self, index):
        row = self.rows[index]
        row = row - self.mean
        return row


def check(rows, device):
    loader = torch.utils.data.DataLoader(rows)
    for _ in range(3):
        (batch,) = loader
    if batch.tolist() != [[0.0, 1.0]]:
        return f"the row is {batch[0].tolist()} in the third epoch"
    if rows.rows.tolist() != [[5.0, 6.0]]:
        return "the dataset has changed"


def reproduce(device):
    return check(Rows(), device)


def control(device):
    return check(UnchangedRows(), device)


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
