# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A layer raises TypeError for a NumPy array, a list or another input that is not a tensor"
# kind = "error"
# symptom = "must be Tensor, not list"
# messages = [
#     "argument '(?:input|indices)' \\(position \\d\\) must be Tensor, not list",
#     'conv\dd\(\) received an invalid combination of arguments - got \(list, ',
# ]
# elsewhere = [
#     "argument '(?:input|indices|self)' \\(position \\d\\) must be Tensor, not (?:numpy\\.)?ndarray",
#     'conv\dd\(\) received an invalid combination of arguments - got \((?:numpy\.)?ndarray, ',
#     "torch[/\\\\\\\\]nn[/\\\\\\\\]modules.{0,400}?'(?:numpy\\\\.ndarray|list)' object has no attribute 'dim'",
# ]
# origin = "usage"
# reports = [
#     "https://github.com/polo5/LDEQ_RwR/issues/5",
#     "https://github.com/pytorch/pytorch/issues/44628",
# ]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.as_tensor.html",
#     "https://github.com/open-mmlab/mmdetection/issues/4561",
# ]
# wrong = '''
# output = model(batch)  # a list of rows, or a numpy.ndarray
# '''
# right = '''
# weight = next(model.parameters())
# output = model(torch.as_tensor(batch, dtype=weight.dtype, device=weight.device))
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""For a convolution, the message lists seven types (polo5/LDEQ_RwR#5), of which only the first is
the input's type. The exclamation marks in the message suggest that the weight, the stride and the
padding have wrong types too, but these arguments are correct.

No layer converts its input. By default, a DataLoader turns arrays into tensors, so an array usually
comes from code that calls the model directly, such as a prediction for one sample. A batch of a
TensorDataset is a list of tensors, even if it contains only one tensor: unpack it, as in x, y =
batch. Other lists of tensors need torch.stack() or, for feature maps of different sizes
(open-mmlab/mmdetection#4561), a loop: as_tensor() rejects them, or drops the dimensions of
one-element tensors. The result of as_tensor() can also share an array's memory, so an in-place
layer changes the array. Indices for an Embedding need dtype=torch.int64. Convert an image from cv2
or PIL to float values between 0 and 1 in the order [1, channels, height, width], and call copy()
after image[:, :, ::-1].
"""

import torch


def reproduce(device):
    model, batch = torch.nn.Linear(2, 1).to(device), [[1.0, 2.0], [3.0, 4.0]]
    try:
        output = model(batch)  # a list of rows, or a numpy.ndarray
    except TypeError as error:
        return str(error)
    return f"the output has the shape {list(output.shape)}"


def control(device):
    model, batch = torch.nn.Linear(2, 1).to(device), [[1.0, 2.0], [3.0, 4.0]]
    weight = next(model.parameters())
    output = model(torch.as_tensor(batch, dtype=weight.dtype, device=weight.device))
    (a, b), c = model.weight[0].tolist(), model.bias.item()
    for row, (x, y) in zip(output[:, 0].tolist(), batch):
        if abs(row - (a * x + b * y + c)) > 0.01:
            return f"{batch} becomes {output.tolist()}"


def messages(device):
    texts = []
    for layer in (torch.nn.Conv2d(1, 1, 1), torch.nn.ReLU(), torch.nn.Embedding(3, 2)):
        try:
            layer.to(device)([[1, 2]])
        except TypeError as error:
            texts.append(str(error))
    return "\n".join(texts)


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
