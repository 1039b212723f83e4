# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Normalizing a gray image in place with the mean and deviation of three channels fails"
# kind = "error"
# symptom = "output with shape \\[1, 2, 2\\] doesn't match the broadcast shape \\[3, 2, 2\\]"
# messages = [
#     "output with shape \\[[\\d, ]{0,60}\\] doesn.t match the broadcast shape \\[[\\d, ]{1,60}\\]",
# ]
# origin = "usage"
# reports = [
#     "https://github.com/lyeoni/pytorch-mnist-GAN/issues/4",
#     "https://github.com/L1aoXingyu/pytorch-beginner/issues/31",
#     "https://github.com/arturml/mnist-cgan/issues/1",
#     "https://github.com/fungtion/DANN/issues/8",
# ]
# documents = [
#     "https://docs.pytorch.org/docs/stable/notes/broadcasting.html",
#     "https://github.com/pytorch/vision/blob/01460443f64843627a8df98c63ed45849e370a89/torchvision/transforms/v2/functional/_misc.py",
# ]
# wrong = '''
# mean, std = image.new_tensor([0.5, 0.5, 0.5]), image.new_tensor([0.5, 0.5, 0.5])
# image.sub_(mean[:, None, None]).div_(std[:, None, None])
# '''
# right = '''
# mean, std = image.new_tensor([0.5]), image.new_tensor([0.5])  # as Normalize((0.5,), (0.5,))
# image.sub_(mean[:, None, None]).div_(std[:, None, None])
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The loader fails on the first image of MNIST or of another dataset of gray images.

Normalize in torchvision.transforms runs the same lines (L1aoXingyu/pytorch-beginner#31). The lines
write in place, but an in-place operation cannot expand a one-channel tensor to the three channels
of the result (docs: notes/broadcasting). Pass one number per channel: Normalize((0.5,), (0.5,)). In
the corrected lines, an image of shape [height, width] needs a channel: image = image[None].

If the model expects three channels, for example because it is pretrained, use the three numbers and
repeat the channel first: image = image.repeat(3, 1, 1). Normalize in torchvision.transforms.v2
works in place only with inplace=True. Without it, Normalize raises no error but returns three
channels, just like (image - mean) / std. Three channels do not fit a model for gray images
(torchvision/transforms/v2/functional/_misc.py).
"""

import torch


def start(device):
    return torch.tensor([[[0.0, 1.0], [0.5, 0.25]]], device=device)


def check(image):
    if image.tolist() != [[[-1.0, 1.0], [0.0, -0.5]]]:
        return f"the image has the shape {[*image.shape]}"


def reproduce(device):
    image = start(device)
    mean, std = image.new_tensor([0.5, 0.5, 0.5]), image.new_tensor([0.5, 0.5, 0.5])
    try:
        image.sub_(mean[:, None, None]).div_(std[:, None, None])
    except RuntimeError as error:
        return str(error)
    return check(image)


def control(device):
    image = start(device)
    mean, std = image.new_tensor([0.5]), image.new_tensor([0.5])  # as Normalize((0.5,), (0.5,))
    image.sub_(mean[:, None, None]).div_(std[:, None, None])
    return check(image)


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
