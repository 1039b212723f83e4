# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "pos_weight of one number per class is applied to the columns of an image, not to its channels"
# kind = "silent"
# symptom = "columns are weighted"
# keywords = [
#     "pos_weight weights the wrong classes",
#     "pos_weight for segmentation",
#     "pos_weight shape for images",
#     "BCEWithLogitsLoss pos_weight size of tensor must match at non-singleton dimension",
#     "class weight of multi-label masks",
#     "class weights for masks seem to apply to image columns",
#     "vertical stripes in the segmentation prediction",
#     "left part of the image predicted better than the right",
#     "weighting rare classes in segmentation has no effect",
#     "works only when the width equals number of classes",
#     "per channel weight for binary masks",
#     "imbalanced multi-label segmentation weight does not help",
#     "positive weight per class fails for images",
#     "loss weights applied along the wrong axis",
#     "dice of the rare organ does not improve with weights",
#     "multi-channel mask with weighted BCE gives odd results",
#     "sequence tagging weight applied over time steps",
# ]
# origin = "design"
# reports = ["https://github.com/pytorch/pytorch/issues/82496"]
# documents = [
#     "https://github.com/pytorch/pytorch/pull/101567",
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.BCEWithLogitsLoss.html",
# ]
# wrong = '''
# pos_weight = torch.tensor([1.0, 9.0])
# loss = binary_cross_entropy_with_logits(logits, masks, pos_weight=pos_weight)
# '''
# right = '''
# pos_weight = torch.tensor([1.0, 9.0]).view(2, 1, 1)
# loss = binary_cross_entropy_with_logits(logits, masks, pos_weight=pos_weight)
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""It broadcasts against [batch, channel, row, column] from the right (pytorch#101567). Where
the image is as wide as there are classes nothing is said; elsewhere it raises "The size of
tensor a must match the size of tensor b" (pytorch#82496).
"""

import torch
from torch.nn.functional import binary_cross_entropy_with_logits


def train(device, shape):
    logits = torch.zeros(1, 2, 2, 2, device=device)
    masks = torch.ones(1, 2, 2, 2, device=device)
    pos_weight = torch.tensor([1.0, 9.0], device=device).view(shape)
    loss = binary_cross_entropy_with_logits(logits, masks, pos_weight=pos_weight, reduction="none")
    of_channels, of_columns = loss.mean((0, 2, 3)), loss.mean((0, 1, 2))
    if of_columns[1] > 2 * of_columns[0]:
        return f"columns are weighted {of_columns.tolist()}, channels {of_channels.tolist()}"


def reproduce(device):
    return train(device, (2,))


def control(device):
    return train(device, (2, 1, 1))


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
