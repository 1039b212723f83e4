# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A vision transformer fails on images whose size does not match the model's position embedding"
# kind = "error"
# symptom = "The size of tensor a \\(13\\) must match the size of tensor b \\(5\\) at non-singleton dimension 1"
# messages = [
#     "The size of tensor a \\(\\d{1,9}\\) must match the size of tensor b \\(\\d{1,9}\\) at non-singleton dimension \\d",
# ]
# origin = "usage"
# reports = [
#     "https://github.com/yitu-opensource/T2T-ViT/issues/53",
#     "https://github.com/jeonsworld/ViT-pytorch/issues/3",
#     "https://github.com/lukemelas/PyTorch-Pretrained-ViT/issues/28",
#     "https://github.com/openai/CLIP/issues/189",
# ]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.interpolate.html",
# ]
# wrong = '''
# features = embed(images)
# x = torch.cat([token, features.flatten(2).transpose(1, 2)], 1)
# x = x + positions  # of shape [1, 1 + 2 * 2, width]
# '''
# right = '''
# features = embed(images)
# x = torch.cat([token, features.flatten(2).transpose(1, 2)], 1)
# grid, side = positions[:, 1:], round((positions.shape[1] - 1) ** 0.5)  # without [CLS]
# grid = grid.unflatten(1, (side, side)).permute(0, 3, 1, 2)
# grid = torch.nn.functional.interpolate(grid, features.shape[-2:], mode="bicubic")
# x = x + torch.cat([positions[:, :1], grid.flatten(2).transpose(1, 2)], 1)
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""Each of the two numbers in the message is 1 plus a number of patches: 197 for 14 x 14 patches,
and 577 for 24 x 24 patches. An image of 224 x 224 pixels has 14 x 14 patches of 16 x 16 pixels
(lukemelas/PyTorch-Pretrained-ViT#28).

The position embedding has a row for each patch of the images for which the model was built. The
addition cannot broadcast the embedding to another number of patches
(aten/src/ATen/ExpandUtils.cpp). An untrained model needs no new code, only the right image size, as
in T2T_vit_14(img_size=384) (yitu-opensource/T2T-ViT#53).

A pretrained model can read images that are resized to its own size. To train it on larger images,
interpolate the embedding on the grid of patches, without the class token's row. If the image size
is the same, the embedding stays unchanged. For fewer patches, also pass antialias=True (docs:
torch.nn.functional.interpolate). The corrected lines assume that the old grid is square. If the
model has no class token, use all rows. CLIP's embedding has no batch dimension: use
positions[None].
"""

import torch


def start(device, height, width):
    rows, columns = torch.meshgrid(torch.arange(2.0), torch.arange(2.0), indexing="ij")
    grid = torch.stack([rows, columns], -1).flatten(0, 1)  # each patch knows its row and column
    positions = torch.cat([torch.full((1, 2), 9.0), grid])[None].to(device)
    images, token = (
        torch.zeros(shape, device=device) for shape in ((1, 2, height, width), (1, 1, 2))
    )
    return images, token, positions


embed = torch.nn.AvgPool2d(4)  # patches of 4 x 4 pixels


def as_it_is(images, token, positions):
    features = embed(images)
    x = torch.cat([token, features.flatten(2).transpose(1, 2)], 1)
    x = x + positions  # of shape [1, 1 + 2 * 2, width]
    return x


def interpolated(images, token, positions):
    features = embed(images)
    x = torch.cat([token, features.flatten(2).transpose(1, 2)], 1)
    grid, side = positions[:, 1:], round((positions.shape[1] - 1) ** 0.5)  # without [CLS]
    grid = grid.unflatten(1, (side, side)).permute(0, 3, 1, 2)
    grid = torch.nn.functional.interpolate(grid, features.shape[-2:], mode="bicubic")
    x = x + torch.cat([positions[:, :1], grid.flatten(2).transpose(1, 2)], 1)
    return x


def check(device, add):
    images, token, positions = start(device, 8, 8)
    if not torch.equal(add(images, token, positions), positions):
        return "the embedding of images of the old size changes"
    images, token, positions = start(device, 12, 16)
    try:
        x = add(images, token, positions)
    except RuntimeError as error:
        return str(error)
    rows, columns = x[0, 1:].unflatten(0, (3, 4)).unbind(-1)
    if not torch.equal(x[:, 0], positions[:, 0]):
        return "the class token has another position"
    if rows.std(1).max() > 1e-5 or columns.std(0).max() > 1e-5:
        return "the rows and columns of the patches are mixed up"
    if rows.diff(dim=0).min() < 0.2 or columns.diff(dim=1).min() < 0.2:
        return "the rows or columns are not in order"


def reproduce(device):
    return check(device, as_it_is)


def control(device):
    return check(device, interpolated)


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
