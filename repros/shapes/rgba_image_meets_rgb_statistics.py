# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Normalizing an image with an alpha channel by the statistics of three channels fails"
# kind = "error"
# symptom = "The size of tensor a \\(4\\) must match the size of tensor b \\(3\\) at non-singleton dimension 0"
# messages = [
#     "The size of tensor a \\(\\d{1,9}\\) must match the size of tensor b \\(\\d{1,9}\\) at non-singleton dimension \\d",
# ]
# origin = "usage"
# reports = [
#     "https://github.com/StoryMY/take-off-eyeglasses/issues/1",
#     "https://github.com/mchong6/JoJoGAN/issues/17",
#     "https://github.com/pharmapsychotic/clip-interrogator/issues/7",
#     "https://github.com/pytorch/examples/issues/738",
# ]
# documents = ["https://pillow.readthedocs.io/en/stable/handbook/concepts.html"]
# wrong = '''
# image = (image - mean[:, None, None]) / std[:, None, None]
# '''
# right = '''
# image = image[:3]  # drops alpha; of PIL: image.convert("RGB")
# image = (image - mean[:, None, None]) / std[:, None, None]
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""A PNG fails in Normalize, but a JPEG of the same picture works.

A PNG can have a fourth channel for transparency, which ToTensor() keeps (mchong6/JoJoGAN#17). The
mean of three channels cannot be broadcast to four (aten/src/ATen/ExpandUtils.cpp). Loaders that
call convert("RGB"), as ImageFolder does, never return such an image (pytorch/examples#738).

The slice keeps the colors that transparent pixels have in the file. For a JPEG with four channels,
which are CMYK, the slice is wrong. A PNG can also have a palette, or a gray and an alpha channel
(pillow.readthedocs.io: Concepts). If you read the file yourself, convert("RGB") is therefore safer.
For a batch, write images[:, :3], because the channels are dimension 1.
"""

import torch

MEAN, STD = torch.tensor([0.5, 0.25, 0.0]), torch.tensor([0.5, 0.25, 1.0])


def as_it_is(image, mean, std):
    image = (image - mean[:, None, None]) / std[:, None, None]
    return image


def without_alpha(image, mean, std):
    image = image[:3]  # drops alpha; of PIL: image.convert("RGB")
    image = (image - mean[:, None, None]) / std[:, None, None]
    return image


def check(device, normalize):
    rgb = torch.arange(12.0, device=device).view(3, 2, 2) / 16
    expected = [(rgb[0] - 0.5) * 2, (rgb[1] - 0.25) * 4, rgb[2]]
    for image in (rgb, torch.cat([rgb, torch.ones_like(rgb[:1])])):
        try:
            image = normalize(image, MEAN.to(device), STD.to(device))
        except RuntimeError as error:
            return str(error)
        if not torch.equal(image, torch.stack(expected)):
            return "the colors are not normalized"


def reproduce(device):
    return check(device, as_it_is)


def control(device):
    return check(device, without_alpha)


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
