# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "default_collate() cannot batch samples that hold lists or tuples of different lengths"
# kind = "error"
# symptom = "each element in list of batch should be of equal size"
# messages = ["each element in list of batch should be of equal size"]
# origin = "design"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/42654",
#     "https://github.com/pytorch/vision/issues/2624",
# ]
# documents = [
#     "https://github.com/pytorch/pytorch/pull/38492",
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/utils/data/_utils/collate.py",
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.rnn.pad_sequence.html",
# ]
# wrong = '''
# rows = [([1, 2, 3], 0), ([4], 1)]  # the tags of each image, and its class
# loader = DataLoader(rows, batch_size=2)
# '''
# right = '''
# rows = [([1, 2, 3], 0), ([4], 1)]  # the tags of each image, and its class
# def collate(batch):
#     tags, classes = zip(*batch)
#     tags = [torch.tensor(row, dtype=torch.long) for row in tags]  # of an image without tags too
#     return tags, torch.tensor(classes)
# loader = DataLoader(rows, batch_size=2, collate_fn=collate)
# '''
# affected = { cpu = ">=1.13" }
# ///
"""For default_collate(), a list is a sample of several fields, which it collates field by field, so
all lists need the same length (torch/utils/data/_utils/collate.py). Releases before 1.6 silently
truncated all lists to the length of the shortest (pytorch#38492). Downgrading to such a release, as
in pytorch#42654, therefore only hides the failure. The same error occurs if some samples have two
fields and others have three: return the same fields for every sample.

A collate_fn that keeps one tensor per sample loses nothing. The corrected code specifies the dtype
because an empty list would otherwise become float32, which Embedding rejects. For boxes use
torch.float32, because torch.long truncates fractions. If the model expects a single tensor, pad the
lists with pad_sequence(tags, batch_first=True, padding_value=n), and return their lengths as well.
Here n is an index of the Embedding that no tag or token uses. With the default padding value of 0,
the padding counts as tag 0.
"""

import torch
from torch.utils.data import DataLoader


def reproduce(device):
    rows = [([1, 2, 3], 0), ([4], 1)]  # the tags of each image, and its class
    loader = DataLoader(rows, batch_size=2)
    try:
        list(loader)
    except RuntimeError as error:
        return str(error)


def control(device):
    rows = [([1, 2, 3], 0), ([4], 1)]  # the tags of each image, and its class

    def collate(batch):
        tags, classes = zip(*batch)
        tags = [torch.tensor(row, dtype=torch.long) for row in tags]  # of an image without tags too
        return tags, torch.tensor(classes)

    loader = DataLoader(rows, batch_size=2, collate_fn=collate)
    ((tags, classes),) = loader
    if [row.tolist() for row in tags] != [[1, 2, 3], [4]] or classes.tolist() != [0, 1]:
        return f"{tags} and {classes} instead of the two samples"


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
