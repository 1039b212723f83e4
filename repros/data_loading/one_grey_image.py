# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "One greyscale image among colour images breaks the batch"
# kind = "error"
# symptom = "stack expects each tensor to be equal size.*\\[1, 8, 8\\]"
# messages = ["stack expects each tensor to be equal size, but got"]
# keywords = [
#     "grayscale image among RGB images",
#     "image with an alpha channel in the dataset",
#     "batch fails at a random step although all images are resized",
#     "got [3, 224, 224] at entry 0 and [1, 224, 224]",
#     "some pictures in my dataset are black and white",
#     "png with transparency in the training folder",
#     "crash in the middle of the epoch at one image",
#     "all images are 224x224 and still cannot be batched",
# ]
# origin = "usage"
# reports = [
#     "https://github.com/Lightning-Universe/lightning-flash/issues/415",
#     "https://github.com/MECLabTUDA/Super_Selfish/issues/2",
# ]
# documents = [
#     "https://github.com/lxtGH/DecoupleSegNets/issues/32",
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/utils/data/_utils/collate.py",
# ]
# wrong = '''
# rows = [colour, grey]
# '''
# right = '''
# rows = [colour, grey.expand(3, -1, -1)]  # with PIL: image.convert("RGB")
# '''
# fix = "data_loading.collate"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""Training stops in the middle of an epoch, at the batch that holds the image with another
number of channels; default_collate() stacks the samples
(torch/utils/data/_utils/collate.py). To collate grey and RGB images is the cause that
MECLabTUDA/Super_Selfish#2 names.

Resizing all of them to one height and width, which helps where the sizes differ
(lxtGH/DecoupleSegNets#32), leaves the channels as they are.
"""

import torch
from torch.nn.functional import interpolate
from torch.utils.data import DataLoader


def load(device, transform):
    colour, grey = torch.ones(3, 8, 8, device=device), torch.ones(1, 8, 8, device=device)
    rows = [transform(colour), transform(grey)]
    try:
        list(DataLoader(rows, batch_size=2))
    except RuntimeError as error:
        return str(error)


def reproduce(device):
    return load(device, lambda image: image)


def control(device):
    return load(device, lambda grey: grey.expand(3, -1, -1))


def popular_fix(device):
    return load(device, lambda image: interpolate(image[None], size=(8, 8))[0])


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
