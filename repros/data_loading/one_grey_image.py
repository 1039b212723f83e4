# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "default_collate() cannot batch a grayscale image with color images"
# kind = "error"
# symptom = "stack expects each tensor to be equal size.*\\[1, 8, 8\\]"
# messages = ["stack expects each tensor to be equal size, but got"]
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
# def __getitem__(self, index):
#     return self.images[index]
# '''
# right = '''
# def __getitem__(self, index):
#     image = self.images[index]  # grey or RGB, either with alpha; of PIL: image.convert("RGB")
#     channels, height, width = image.shape
#     colours = {1: 1, 2: 1, 3: 3, 4: 3}[channels]  # KeyError: no such image
#     return image[:colours].expand(3, height, width).clone()
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""Training stops in the middle of an epoch, at the batch that contains an image with a different
number of channels, because default_collate() stacks the samples
(torch/utils/data/_utils/collate.py). According to MECLabTUDA/Super_Selfish#2, the cause is a mix of
gray and RGB images. An image with an alpha channel has the same effect.

Resizing all images to the same height and width helps if the sizes differ
(lxtGH/DecoupleSegNets#32), but does not change the number of channels. The image is cloned because
an expanded image has only one channel in memory, and transforms may write in place. If an image has
more than four bands, this code raises a KeyError instead of dropping bands. It does the same if an
image with more than four rows is stored as height x width x channels. The code only counts
channels, so it treats palette indices as gray, and CMYK as RGB with alpha. PIL's
image.convert("RGB") distinguishes these modes (pillow.readthedocs.io: Image.convert).
"""

import torch
from torch.nn.functional import interpolate
from torch.utils.data import DataLoader, Dataset


class Images(Dataset):
    def __init__(self, device):
        self.images = [torch.ones(channels, 8, 8, device=device) for channels in (3, 1, 4, 2)]

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        return self.images[index]


class Colour(Images):
    def __getitem__(self, index):
        image = self.images[index]  # grey or RGB, either with alpha; of PIL: image.convert("RGB")
        channels, height, width = image.shape
        colours = {1: 1, 2: 1, 3: 3, 4: 3}[channels]  # KeyError: no such image
        return image[:colours].expand(3, height, width).clone()


class Resized(Images):
    def __getitem__(self, index):
        return interpolate(self.images[index][None], size=(8, 8))[0]


def load(dataset):
    try:
        (batch,) = DataLoader(dataset, batch_size=4)
    except RuntimeError as error:
        return str(error)
    batch[1].sub_(1)  # as Normalize(inplace=True)
    if batch[[0, 2, 3]].min() < 1 or batch[1].any() or batch.shape != (4, 3, 8, 8):
        return "not the four images in colour"


def reproduce(device):
    return load(Images(device))


def control(device):
    return load(Colour(device))


def popular_fix(device):
    return load(Resized(device))


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
