# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "An encoder-decoder fails on an image whose size is not a multiple of the model's stride"
# kind = "error"
# symptom = "The size of tensor a \\(7\\) must match the size of tensor b \\(8\\) at non-singleton dimension 3"
# messages = [
#     "The size of tensor a \\(\\d{1,9}\\) must match the size of tensor b \\(\\d{1,9}\\) at non-singleton dimension \\d",
# ]
# origin = "usage"
# reports = [
#     "https://github.com/BookerDeWitt/MSBDN-DFF/issues/15",
#     "https://github.com/FadeoN/Distilling-Image-Dehazing-With-Heterogeneous-Task-Imitation/issues/1",
#     "https://github.com/RuYangNU/Deep-Dic-deep-learning-based-digital-image-correlation/issues/3",
#     "https://github.com/acht7111020/DSMAP/issues/2",
# ]
# documents = ["https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.pad.html"]
# wrong = '''
# output = model(image)
# '''
# right = '''
# height, width = image.shape[-2:]
# edges = (0, -width % 4, 0, -height % 4)  # 4: the product of all strides
# padded = torch.nn.functional.pad(image, edges, mode="replicate")
# output = model(padded)[..., :height, :width]
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The model was trained on crops of one size, but fails on whole images. The two numbers in the
message differ by less than the model's stride, such as 552 and 550
(FadeoN/Distilling-Image-Dehazing-With-Heterogeneous-Task-Imitation#1).

A layer with a stride rounds the size (docs: torch.nn.Conv2d), and the decoder multiplies the
rounded size. If the result is added to an image of the old size, or a loss is computed from both,
the error is raised (aten/src/ATen/ExpandUtils.cpp).

Pad the bottom and the right with copies of the edge, and crop the output. If the size is already a
multiple, the corrected lines add no padding. If the model enlarges the image n times, as in
super-resolution, crop the output to n * height and n * width. A volume needs six numbers in
`edges`. Resizing the image to a multiple also removes the error, but scales the output too. If the
model uses torch.cat, the error is "Sizes of tensors must match", which can be fixed inside the
model: see shapes/unet_of_an_odd_size.
"""

import torch
from torch.nn import AvgPool2d, Sequential, Upsample


class Residual(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.shrink = Sequential(AvgPool2d(2, ceil_mode=True), AvgPool2d(2, ceil_mode=True))
        self.grow = Upsample(scale_factor=4)

    def forward(self, image):
        return image + self.grow(self.shrink(image))


def as_it_is(model, image):
    output = model(image)
    return output


def padded(model, image):
    height, width = image.shape[-2:]
    edges = (0, -width % 4, 0, -height % 4)  # 4: the product of all strides
    padded = torch.nn.functional.pad(image, edges, mode="replicate")
    output = model(padded)[..., :height, :width]
    return output


def check(device, run):
    for height, width in ((4, 8), (5, 7)):
        image = torch.arange(1.0 * height * width, device=device).view(1, 1, height, width)
        try:
            output = run(Residual(), image)
        except RuntimeError as error:
            return str(error)
        expected = image.clone()
        for i in range(height):
            for j in range(width):  # the mean of the 4 x 4 pixels around, with copies of the edge
                rows = [min(k, height - 1) for k in range(i // 4 * 4, i // 4 * 4 + 4)]
                columns = [min(k, width - 1) for k in range(j // 4 * 4, j // 4 * 4 + 4)]
                expected[0, 0, i, j] += image[0, 0, rows][:, columns].mean()
        if output.shape != image.shape or not torch.allclose(output, expected):
            return "the output is another one"


def reproduce(device):
    return check(device, as_it_is)


def control(device):
    return check(device, padded)


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
