# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "cross_entropy raises an error, or asserts on the device, if a label is negative or too large"
# kind = "error"
# symptom = "Target 3 is out of bounds"
# messages = ["Target -?\\d{1,20} is out of bounds"]
# elsewhere = [
#     "Target is out of bounds",
#     "Assertion .t ?>= ?0 && t ?< ?n_classes. failed",
#     "cur_target ?>= ?0 && cur_target ?< ?n_classes",
#     "Assertion .idx_dim ?>= ?0 && idx_dim ?< ?index_size",
#     "device-side assert triggered",
#     "CUBLAS_STATUS_(?:NOT_INITIALIZED|EXECUTION_FAILED|INTERNAL_ERROR)",
# ]
# origin = "usage"
# reports = [
#     "https://github.com/NVlabs/SegFormer/issues/92",
#     "https://github.com/milesial/Pytorch-UNet/issues/291",
#     "https://github.com/milesial/Pytorch-UNet/issues/408",
#     "https://github.com/EricFillion/happy-transformer/issues/248",
# ]
# documents = [
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/aten/src/ATen/native/LossNLL.cpp",
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.CrossEntropyLoss.html",
# ]
# wrong = '''
# loss = cross_entropy(logits, labels)  # three classes, labelled 1, 2, 3
# '''
# right = '''
# labels = torch.where(labels == -100, labels, labels - 1)  # 0, 1, 2, if they begin at 1
# loss = cross_entropy(logits, labels)
# '''
# affected = { cpu = ">=1.13" }
# ///
"""Training stops at the first batch with a label that is out of range. A label is the index of a
logit, so labels range from 0 to the number of classes minus 1 (docs: torch.nn.CrossEntropyLoss). On
the CPU the error names the label that is out of range (aten/src/ATen/native/LossNLL.cpp). A GPU
only reports a failed assertion (NVlabs/SegFormer#92).

Do not shift labels that start at 0: on a batch without class 0, the model would be trained on the
wrong classes. If ignore_index is not -100, use its value in place of -100. Otherwise, an
ignore_index of 255 would become 254.

If a mask of two classes holds gray values (milesial/Pytorch-UNet#291), such as 0 and 255
(milesial/Pytorch-UNet#408), use mask // 255. In a JPEG file white can be 254, which // turns into
0. For these files, use (mask > 127).long() instead. If 255 marks void pixels, or -1 means "none"
(EricFillion/happy-transformer#248), pass that number as ignore_index. If there are more classes
than logits, the head is too small.
"""

import math

import torch
from torch.nn.functional import cross_entropy


def from_one(logits, labels):
    loss = cross_entropy(logits, labels)  # three classes, labelled 1, 2, 3
    return loss


def from_zero(logits, labels):
    labels = torch.where(labels == -100, labels, labels - 1)  # 0, 1, 2, if they begin at 1
    loss = cross_entropy(logits, labels)
    return loss


def check(device, loss_of):
    logits = 3 * torch.eye(3, device=device)[[0, 1, 2, 0]]
    labels = torch.tensor([1, 2, 3, -100], device=device)
    try:
        loss = loss_of(logits, labels)
    except IndexError as error:
        return str(error)
    if abs(loss.item() - math.log1p(2 * math.exp(-3))) > 1e-4:
        return f"the loss is {loss.item()}"


def reproduce(device):
    return check(device, from_one)


def control(device):
    logits = torch.tensor([[9.0, 0.0], [0.0, 9.0]], device=device)
    mask, none = torch.tensor([[0, 255], [0, -1]], device=device)
    losses = cross_entropy(logits, mask // 255), cross_entropy(logits, mask, ignore_index=255)
    for loss in (*losses, cross_entropy(logits, none, ignore_index=-1)):
        if abs(loss.item() - math.log1p(math.exp(-9))) > 1e-4:
            return f"the loss of a mask is {loss.item()}"
    return check(device, from_zero)


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
