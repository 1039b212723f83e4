# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A dataset that returns None for a bad sample breaks the batch"
# kind = "error"
# symptom = "^TypeError: .*found <class 'NoneType'>|^a batch without samples"
# messages = [
#     "batch must contain tensors, (?:numpy arrays, )?numbers, dicts,? or lists; found <(?:class|type) .NoneType.>",
#     "batch must contain tensors, (?:numpy arrays, )?numbers, dicts,? or lists; found object",
# ]
# keywords = [
#     "skip a corrupt image in the dataset",
#     "__getitem__ returns None",
#     "how to skip bad samples in a DataLoader",
#     "optional field of a sample is None",
#     "collate_fn filter None",
#     "some images cannot be opened, how to ignore them",
#     "broken jpg in the dataset stops the training",
#     "dataset returns nothing for some index",
#     "want to drop unreadable audio files while loading",
# ]
# origin = "usage"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/74337",
#     "https://github.com/Megvii-BaseDetection/YOLOX/issues/1523",
#     "https://github.com/pytorch/pytorch/issues/57429",
# ]
# documents = [
#     "https://github.com/pytorch/pytorch/issues/52850",
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/utils/data/_utils/collate.py",
# ]
# wrong = '''
# loader = DataLoader(rows, batch_size=2)  # rows[2] and rows[3] are None
# '''
# right = '''
# good = [row for row in rows if row is not None]
# loader = DataLoader(good, batch_size=2)
# '''
# fix = "data_loading.collate"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""default_collate() has no rule for None (torch/utils/data/_utils/collate.py). Its message
names the type and no sample.

Leaving out the None in collate_fn, as people do (pytorch#52850, pytorch#57429), makes
batches of fewer samples, and fails at the batch that has none left: IndexError, list index
out of range. Leave such samples out before the loader counts them.
"""

import torch
from torch.utils.data import DataLoader, default_collate


def load(device, select=list, **options):
    rows = [torch.ones(3, device=device), torch.zeros(3, device=device), None, None]
    rows = select(rows)
    try:
        loader = DataLoader(rows, batch_size=2, **options)
        list(loader)
    except TypeError as error:
        return f"TypeError: {error}"
    except IndexError:
        return "a batch without samples: IndexError"


def reproduce(device):
    return load(device)


def control(device):
    return load(device, select=lambda rows: [row for row in rows if row is not None])


def popular_fix(device):
    def without_none(batch):
        return default_collate([row for row in batch if row is not None])

    return load(device, collate_fn=without_none)


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
