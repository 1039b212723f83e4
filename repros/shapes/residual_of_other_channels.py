# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A residual block fails if its convolutions change the number of channels or the stride"
# kind = "error"
# symptom = "The size of tensor a \\(2\\) must match the size of tensor b \\(3\\) at non-singleton dimension 1"
# messages = [
#     "The size of tensor a \\(\\d{1,9}\\) must match the size of tensor b \\(\\d{1,9}\\) at non-singleton dimension \\d",
# ]
# origin = "usage"
# reports = [
#     "https://github.com/Project-MONAI/MONAI/issues/7591",
#     "https://github.com/GengDavid/pytorch-cpn/issues/45",
# ]
# documents = ["https://github.com/pytorch/vision/blob/v0.20.0/torchvision/models/resnet.py"]
# wrong = '''
# def __init__(self, inputs, outputs, stride=1):
#     super().__init__()
#     self.body = body(inputs, outputs, stride)
#
# def forward(self, x):
#     return torch.relu(x + self.body(x))
# '''
# right = '''
# def __init__(self, inputs, outputs, stride=1):
#     super().__init__()
#     self.body = body(inputs, outputs, stride)
#     self.skip = torch.nn.Identity()
#     if stride != 1 or inputs != outputs:
#         self.skip = torch.nn.Conv2d(inputs, outputs, 1, stride, bias=False)
#
# def forward(self, x):
#     return torch.relu(self.skip(x) + self.body(x))
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The addition in a residual block raises an error. The two numbers in the message are the channels
before and after the block (Project-MONAI/MONAI#7591). If the block has a stride, they are the
image's widths before and after the block.

The sum needs two tensors of the same shape, and broadcasts only dimensions of size 1
(aten/src/ATen/ExpandUtils.cpp). A block with one input or output channel therefore raises no error:
the sum adds this channel to all the channels of the other tensor. If the block's kernels are odd
and padded by kernel_size // 2, a 1 x 1 convolution with the same stride gives the input the shape
of the output. In torchvision, a BatchNorm2d follows this convolution
(torchvision/models/resnet.py).

Blocks that keep the shape have no parameters in the skip connection, so their checkpoints still
load. If an odd kernel larger than 1 has no padding, the image shrinks in the block's body: set
padding=kernel_size // 2.
"""

import torch
from torch.nn import Conv2d


def body(inputs, outputs, stride):
    return Conv2d(inputs, outputs, 3, stride, padding=1)


class Block(torch.nn.Module):
    def __init__(self, inputs, outputs, stride=1):
        super().__init__()
        self.body = body(inputs, outputs, stride)

    def forward(self, x):
        return torch.relu(x + self.body(x))


class Projected(torch.nn.Module):
    def __init__(self, inputs, outputs, stride=1):
        super().__init__()
        self.body = body(inputs, outputs, stride)
        self.skip = torch.nn.Identity()
        if stride != 1 or inputs != outputs:
            self.skip = torch.nn.Conv2d(inputs, outputs, 1, stride, bias=False)

    def forward(self, x):
        return torch.relu(self.skip(x) + self.body(x))


def check(device, kind, shapes):
    for channels, outputs, stride in shapes:
        block = kind(channels, outputs, stride).to(device)
        x = torch.arange(16.0 * channels, device=device).view(1, channels, 4, 4) - 16
        try:
            y = block(x)
        except RuntimeError as error:
            return str(error)
        projected = x[:, :, ::stride, ::stride]
        if hasattr(block, "skip") and isinstance(block.skip, Conv2d):
            projected = torch.einsum("nchw,oc->nohw", projected, block.skip.weight[:, :, 0, 0])
        if not torch.allclose(y, (projected + block.body(x)).clamp(min=0), atol=1e-4):
            return "the block returns another sum"


def reproduce(device):
    return check(device, Block, [(1, 3, 1), (2, 2, 1), (2, 3, 1)])  # the first two run


def control(device):
    return check(device, Projected, [(1, 3, 1), (2, 2, 1), (2, 3, 1), (2, 2, 2)])


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
