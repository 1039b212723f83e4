# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Changing rows of a tensor in place in a for loop raises an error if the tensor requires grad"
# kind = "error"
# symptom = "is a view and is being modified inplace"
# messages = [
#     "Output \\d{1,9} of \\w{1,60} is a view and is being modified inplace\\. This view is the output of a function that returns multiple views",
#     "Output \\d{1,9} of \\w{1,60} is a view and its base or another view of its base has been modified inplace\\. This view is the output of a function that returns multiple views",
# ]
# elsewhere = [
#     "Output \\d{1,9} of \\w{1,60} is a view and (?:is being|its base or another view of its base has been) modified inplace\\. This view is an output of a function that returns multiple views",
# ]
# origin = "design"
# reports = [
#     "https://github.com/haofanwang/Score-CAM/issues/28",
#     "https://github.com/paarthneekhara/AdversarialDeepFakes/issues/23",
#     "https://github.com/MisaOgura/flashtorch/issues/42",
#     "https://github.com/pytorch/pytorch/issues/47899",
# ]
# documents = [
#     "https://github.com/pytorch/pytorch/pull/40884",
#     "https://github.com/pytorch/pytorch/issues/36403",
# ]
# wrong = '''
# for channel, s in zip(image, std):
#     channel.mul_(s)
# '''
# right = '''
# image = image * torch.as_tensor(std).to(image).view(-1, *[1] * (image.dim() - 1))
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""Denormalizing an image channel by channel raises an error (haofanwang/Score-CAM#28), and so does
the Normalize transform in an adversarial attack (paarthneekhara/AdversarialDeepFakes#23).

A for loop over a tensor unbinds it (pytorch#40884). The functions unbind(), chunk() and split()
return several views from a single node of the graph, and autograd cannot rewrite the graph when one
of the views changes (pytorch#36403). Change the pieces from chunk() and split() out of place as
well, and join them with torch.cat().

The corrected code scales along the first dimension, as the loop does, but creates a new tensor.
Within `for image in batch:`, collect the images in a list, because the corrected code does not
change the batch. A loop body of channel.sub_(m).div_(s) becomes (image - mean) / std, with mean and
std reshaped in the same way. For a batch of images, whose channels are the second dimension, use
.view(1, -1, 1, 1). The corrected line would scale along the images, as the loop would, and its
broadcast would turn one image into three. For a gray image, pass a single number, because the
broadcast would also turn its single channel into three. The loop, by contrast, uses only the first
number.
"""

import torch


def start(device):
    pixels = torch.ones(2, 2, 2, device=device, requires_grad=True)
    return pixels, pixels * 1, [2.0, 3.0]


def check(pixels, image):
    image.sum().backward()
    if image.flatten(1).tolist() != [[2] * 4, [3] * 4] or not image.equal(pixels.grad):
        return f"the image is {image.tolist()}, its gradient {pixels.grad.tolist()}"


def reproduce(device):
    pixels, image, std = start(device)
    try:
        for channel, s in zip(image, std):
            channel.mul_(s)
    except RuntimeError as error:
        return str(error)
    return check(pixels, image)


def control(device):
    pixels, image, std = start(device)
    image = image * torch.as_tensor(std).to(image).view(-1, *[1] * (image.dim() - 1))
    return check(pixels, image)


def messages(device):
    _, image, _ = start(device)
    channel, _ = image.unbind()
    image.mul_(2)
    try:
        channel * 1
    except RuntimeError as error:
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
