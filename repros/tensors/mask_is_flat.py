# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A mask computed from a flattened tensor does not fit the tensor that it should index"
# kind = "error"
# symptom = "The shape of the mask \\[6\\] at index 0 does not match"
# messages = [
#     "The shape of the mask \\[[\\d, ]{1,60}\\] at index \\d{1,2} ?does not match the shape of the indexed tensor",
# ]
# origin = "design"
# reports = [
#     "https://github.com/marvis/pytorch-yolo2/issues/174",
#     "https://github.com/bingykang/Fewshot_Detection/issues/61",
# ]
# documents = ["https://docs.pytorch.org/docs/stable/generated/torch.Tensor.view_as.html"]
# wrong = '''
# weight[ious > threshold] = 0
# '''
# right = '''
# weight[(ious > threshold).view_as(weight)] = 0
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""A detector's loss fails, although the mask has as many elements as the tensor
(marvis/pytorch-yolo2#174).

Each dimension of a mask must have the size of the same dimension of the indexed tensor
(ATen/native/TensorAdvancedIndexingUtils.h). A flat mask is compared only with the first dimension.
Calling view_as() gives the mask the tensor's shape without copying it.

The flat values must be in the tensor's order: if other code has flattened a permuted tensor,
permute before the comparison. If the numbers of elements differ, view_as() raises an error: the
mask then belongs to other data, for example to a list that was already filtered.
"""

import torch


def by_the_flat_mask(weight, ious, threshold):
    weight[ious > threshold] = 0
    return weight


def by_the_viewed_mask(weight, ious, threshold):
    weight[(ious > threshold).view_as(weight)] = 0
    return weight


def check(device, ignore):
    weight = torch.ones(2, 3, device=device)
    ious = torch.tensor([0.1, 0.8, 0.2, 0.3, 0.4, 0.9], device=device)
    try:
        weight = ignore(weight, ious, 0.6)
    except IndexError as error:
        return str(error)
    if weight.tolist() != [[1, 0, 1], [1, 1, 0]]:
        return f"the weights are {weight.tolist()}"


def reproduce(device):
    return check(device, by_the_flat_mask)


def control(device):
    return check(device, by_the_viewed_mask)


def messages(device):
    try:
        return str(torch.ones(2, 4, device=device)[torch.ones(2, 3, device=device) > 0])
    except IndexError as error:
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
