import torch

from tests.diagnose.trainers import trainer


def _images(seed):
    return torch.rand(8, 1, 16, 16, generator=torch.Generator().manual_seed(seed)) * 2 - 1


def same_range():
    return trainer() | {"real": _images(0), "fake": _images(1)}


def pixels_from_zero_to_one():
    return trainer() | {"real": (_images(0) + 1) / 2, "fake": _images(1)}


def real_images_have_a_background():
    real = _images(0)
    real[..., :4] = 0
    return trainer() | {"real": real, "fake": _images(1)}


OUTCOMES = [[same_range], [pixels_from_zero_to_one], [real_images_have_a_background]]
