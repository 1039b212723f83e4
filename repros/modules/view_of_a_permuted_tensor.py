# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A view() that merges dimensions of a permuted or transposed tensor fails"
# kind = "error"
# symptom = "view size is not compatible with input tensor"
# messages = ["view size is not compatible with input tensor.s size and stride"]
# elsewhere = [
#     "Cannot view a tensor with shape .{1,60}? and strides .{1,60}? as a tensor with shape",
#     "input is not contiguous at ",
# ]
# origin = "design"
# reports = [
#     "https://github.com/pytorch/examples/issues/836",
#     "https://github.com/dmlc/gluon-cv/issues/1618",
#     "https://github.com/RAIVNLab/STR/issues/4",
#     "https://github.com/pytorch/pytorch/issues/141107",
# ]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.Tensor.view.html",
#     "https://github.com/jeya-maria-jose/TransWeather/issues/2",
# ]
# wrong = '''
# y = x.transpose(1, 2).view(2, -1)
# '''
# right = '''
# y = x.transpose(1, 2).reshape(2, -1)
# '''
# rule = "warning"
# when = "the tensor was contiguous before its dimensions were swapped, and the swapped dimensions are larger than 1"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""A view() that used to work raises an error after a transpose(), a permute() or an upgrade to a
new release (pytorch/examples#836).

A view() never copies, so the new shape must be compatible with the tensor's strides (docs:
torch.Tensor.view), which transpose() has swapped. In contrast, reshape() copies if necessary, so an
in-place change to its result may not reach x. The features of a convolution over permuted images
cause the same error, as does a slice, for example in x[:, :2].view(-1). A view() that merges no
dimensions works. Do not replace the transpose with view() or reshape(), as in
jeya-maria-jose/TransWeather#2. This raises no error, but returns the elements in a different order,
because the axes are not moved.
"""

import torch


def start(device):
    return torch.arange(12, device=device).view(2, 3, 2)


def check(y):
    if y.tolist() != [[0, 2, 4, 1, 3, 5], [6, 8, 10, 7, 9, 11]]:
        return f"the elements are in the order {y[0].tolist()}"


def reproduce(device):
    x = start(device)
    try:
        y = x.transpose(1, 2).view(2, -1)
    except RuntimeError as error:
        return str(error)
    return check(y)


def control(device):
    x = start(device)
    y = x.transpose(1, 2).reshape(2, -1)
    return check(y)


def popular_fix(device):
    x = start(device)
    return check(x.reshape(2, 2, 3).reshape(2, -1))


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
