# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "squeeze() also removes the batch dimension if the batch has one sample"
# kind = "error"
# symptom = "Dimension out of range \\(expected to be in range of \\[-1, 0\\], but got 1\\)"
# messages = [
#     "Dimension out of range \\(expected to be in range of \\[-\\d{1,2}, \\d{1,2}\\], but got -?\\d{1,3}\\)",
# ]
# elsewhere = ["dimension \\d{1,2} out of range of \\dD tensor"]
# origin = "design"
# reports = ["https://github.com/chenyuntc/scene-baseline/issues/2"]
# documents = [
#     "https://github.com/ludwig-ai/ludwig/pull/1726",
#     "https://docs.pytorch.org/docs/stable/generated/torch.squeeze.html",
#     "https://github.com/layumi/Person_reID_baseline_pytorch/issues/77",
# ]
# wrong = '''
# features = pool(maps).squeeze()
# predicted = head(features).argmax(1)
# '''
# right = '''
# features = pool(maps).flatten(1)
# predicted = head(features).argmax(1)
# '''
# rule = "note"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""Training fails at the end of the epoch (chenyuntc/scene-baseline#2), or prediction fails for a
single image.

squeeze() without an argument removes every dimension of size 1 (docs: torch.squeeze). This includes
the batch dimension if the batch has one sample, so argmax(1) finds only dimension 0
(ATen/WrapDimUtils.h). flatten(1) always keeps dimension 0. To remove only one dimension, name it,
as in squeeze(1).

Passing drop_last=True, as suggested in chenyuntc/scene-baseline#2, removes the short batch from
training, but the model still cannot predict a single image. If a BatchNorm follows the pooling, it
needs two images in training, so pass drop_last=True as well.
"""

import torch
from torch import nn
from torch.utils.data import DataLoader


def by_squeeze(pool, head, maps):
    features = pool(maps).squeeze()
    predicted = head(features).argmax(1)
    return predicted


def by_flatten(pool, head, maps):
    features = pool(maps).flatten(1)
    predicted = head(features).argmax(1)
    return predicted


def predict(device, run, **options):
    images = torch.eye(5, 3, device=device)[:, :, None, None].repeat(1, 1, 2, 2)
    pool, head = nn.AdaptiveAvgPool2d(1), nn.Linear(3, 3, bias=False).to(device)
    nn.init.eye_(head.weight)
    try:
        batches = [run(pool, head, maps) for maps in DataLoader(images, 2, **options)]
        batches.append(run(pool, head, images[1:2]))
    except IndexError as error:
        return str(error)
    if torch.cat(batches).tolist() != [0, 1, 2, 0, 0, 1]:
        return "an image is predicted as another class"


def reproduce(device):
    return predict(device, by_squeeze)


def control(device):
    return predict(device, by_flatten)


def popular_fix(device):
    return predict(device, by_squeeze, drop_last=True)


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
