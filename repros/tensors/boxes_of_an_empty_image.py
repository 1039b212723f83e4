# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "An empty list of boxes becomes a one-dimensional tensor, so boxes[:, 0] fails"
# kind = "error"
# symptom = "too many indices for tensor of dimension 1"
# messages = ["too many indices for tensor of dimension \\d{1,2}"]
# elsewhere = ["trying to index \\d{1,2} dimensions of a \\d{1,2} dimensional tensor"]
# origin = "usage"
# reports = [
#     "https://github.com/torchgeo/torchgeo/issues/4046",
#     "https://github.com/sgrvinod/a-PyTorch-Tutorial-to-Object-Detection/issues/16",
# ]
# documents = [
#     "https://github.com/pytorch/vision/issues/2192",
#     "https://github.com/microsoft/table-transformer/pull/144",
# ]
# wrong = '''
# boxes = torch.tensor(boxes)
# widths = boxes[:, 2] - boxes[:, 0]
# '''
# right = '''
# boxes = torch.tensor(boxes, dtype=torch.float32).reshape(-1, 4)
# widths = boxes[:, 2] - boxes[:, 0]
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""A detector trains for a while and then fails on an image without objects
(torchgeo/torchgeo#4046). It always fails on the same images.

A list of n boxes becomes a tensor of shape (n, 4). However, torch.tensor([]) has the shape (0,),
because an empty list does not show how long its rows would be. Calling reshape(-1, 4) changes this
shape to (0, 4). The dtype argument also converts boxes in whole pixels to float32, because the
boxes of other images may be float32. If the rows also contain a label, use reshape(-1, 5):
otherwise, four rows would silently become five boxes. A separate tensor of labels needs
dtype=torch.int64, because torch.tensor([]) is float32.

Functions that use dimension 1 fail with 'Dimension out of range' instead (pytorch/vision#2192).
Filtering out these images, as in sgrvinod/a-PyTorch-Tutorial-to-Object-Detection#16, avoids the
error, but the detector never sees an image without objects.
"""

import torch


def as_they_are(boxes):
    boxes = torch.tensor(boxes)
    widths = boxes[:, 2] - boxes[:, 0]
    return boxes, widths


def as_rows_of_four(boxes):
    boxes = torch.tensor(boxes, dtype=torch.float32).reshape(-1, 4)
    widths = boxes[:, 2] - boxes[:, 0]
    return boxes, widths


def check(device, read):
    images = [[[0, 0, 3, 2], [1, 1, 2, 5]], [[2.5, 0, 3.0, 1]], []]
    targets, all_widths = [], []
    try:
        for boxes in images:
            boxes, widths = read(boxes)
            targets.append(boxes.to(device))
            all_widths += widths.tolist()
    except IndexError as error:
        return str(error)
    if all_widths != [3, 1, 0.5] or torch.cat(targets).shape != (3, 4):
        return f"the widths are {all_widths}"


def reproduce(device):
    return check(device, as_they_are)


def control(device):
    return check(device, as_rows_of_four)


def messages(device):
    try:
        return torch.ones(3, 4, device=device)[:, 0, 0]
    except IndexError as error:
        return str(error)


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control, messages):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
