# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "default_collate() cannot batch the PIL images of a dataset without a transform"
# kind = "error"
# symptom = "found <class '\\S{0,60}Image'>|^not a batch of tensors"
# messages = [
#     "batch must contain tensors, numpy arrays, numbers, dicts or lists; found <class .[\\w.]{0,60}Image(?:File)?\\b",
# ]
# elsewhere = ["batch must contain tensors, numbers, dicts or lists; found <class .PIL\\."]
# origin = "design"
# reports = [
#     "https://github.com/hbchen121/AICITY2022_Track2_SSM/issues/3",
#     "https://github.com/zijundeng/pytorch-semantic-segmentation/issues/10",
#     "https://github.com/pyronear/pyro-vision/issues/58",
# ]
# documents = [
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/utils/data/_utils/collate.py",
#     "https://github.com/modelscope/DiffSynth-Studio/issues/698",
#     "https://docs.pytorch.org/vision/stable/generated/torchvision.transforms.ToTensor.html",
# ]
# wrong = '''
# def __getitem__(self, index):
#     return self.images[index], self.labels[index]
# '''
# right = '''
# def __getitem__(self, index):
#     image = self.images[index].convert("RGB")
#     pixels = torch.frombuffer(bytearray(image.tobytes()), dtype=torch.uint8)
#     pixels = pixels.view(image.height, image.width, 3).permute(2, 0, 1)  # channels first
#     return pixels / 255, self.labels[index]
# '''
# stand_in = { cpu = "a class with the methods of a PIL image" }
# affected = { cpu = ">=1.13" }
# ///
"""The loader fails on its first batch, because the dataset returns PIL images.

default_collate() stacks tensors, NumPy arrays and numbers, looks for them in dicts, lists and
tuples, and keeps strings (torch/utils/data/_utils/collate.py). The message names the first type
that it cannot batch. Check the transform. It may be missing, or not passed to the validation set,
or the dataset may never call it. A Compose() without ToTensor() causes the same error.

The corrected code returns the same tensor as torchvision's ToTensor() does for an RGB image: three
channels with values from 0 to 1 (docs: torchvision.transforms.ToTensor). The images of a batch must
also have the same size. Use this code only for 8-bit images. A mask contains class numbers: do not
divide it by 255, and do not convert it to RGB, which replaces the numbers with colors. With
collate_fn=lambda x: x[0], as in modelscope/DiffSynth-Studio#698, the loader drops all samples of a
batch except the first.
"""

import torch
from torch.utils.data import DataLoader, Dataset


class Image:  # stands in for a PIL image in RGB, 2 pixels wide and 1 pixel high
    width, height = 2, 1

    def convert(self, mode):
        return self

    def tobytes(self):
        return bytes([0, 51, 102, 153, 204, 255])


class Images(Dataset):
    images, labels = [Image(), Image()], [0, 1]

    def __len__(self):
        return 2

    def __getitem__(self, index):
        return self.images[index], self.labels[index]


def check(dataset, **options):
    try:
        x, y = next(iter(DataLoader(dataset, batch_size=2, **options)))
    except TypeError as error:
        return str(error)
    channels = torch.tensor([[[0, 0.6]], [[0.2, 0.8]], [[0.4, 1]]])  # red, green and blue
    if not isinstance(x, torch.Tensor) or not torch.allclose(x, channels.expand(2, 3, 1, 2)):
        return f"not a batch of tensors: {type(x).__name__}, {y}"


def reproduce(device):
    return check(Images())


def control(device):
    class Tensors(Images):
        def __getitem__(self, index):
            image = self.images[index].convert("RGB")
            pixels = torch.frombuffer(bytearray(image.tobytes()), dtype=torch.uint8)
            pixels = pixels.view(image.height, image.width, 3).permute(2, 0, 1)  # channels first
            return pixels / 255, self.labels[index]

    return check(Tensors())


def popular_fix(device):
    return check(Images(), collate_fn=lambda samples: samples[0])


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
