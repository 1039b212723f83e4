# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "from_numpy() rejects a flipped or rotated array, because its strides are negative"
# kind = "error"
# symptom = "At least one stride in the given numpy array is negative"
# messages = ["At least one stride in the given numpy array is negative"]
# elsewhere = ["some of the strides of a given numpy array are negative"]
# origin = "design"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/92680",
#     "https://github.com/1adrianb/face-alignment/issues/259",
#     "https://github.com/aleju/imgaug/issues/630",
# ]
# documents = [
#     "https://github.com/pytorch/pytorch/issues/59786",
#     "https://github.com/numpy/numpy/issues/23349",
# ]
# wrong = '''
# image = torch.from_numpy(image[:, ::-1])
# '''
# right = '''
# image = torch.from_numpy(image[:, ::-1].copy())
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""An augmentation that flips or rotates an image fails, and so does a conversion from BGR to RGB
with image[..., ::-1] (1adrianb/face-alignment#259). With a random flip, only some samples fail.

Neither image[:, ::-1] nor np.flip() nor np.rot90() copies the image. They return a view that reads
the same memory backwards, with a negative stride. A tensor cannot have negative strides
(torch/csrc/utils/tensor_numpy.cpp), so torch.tensor() and as_tensor() fail in the same way. copy()
writes the pixels in their new order.

Call copy() after the last flip: a copy that is made before this flip does not help. Calling
np.ascontiguousarray() is not enough, because it leaves an array with a width of 1 unchanged
(numpy#23349).
"""

import torch


def as_a_view(image):
    image = torch.from_numpy(image[:, ::-1])
    return image


def as_a_copy(image):
    image = torch.from_numpy(image[:, ::-1].copy())
    return image


def check(device, convert):
    pixels = [[1, 2, 3], [4, 5, 6]]
    array = torch.tensor(pixels).numpy()
    try:
        image = convert(array).to(device)
    except ValueError as error:
        return str(error)
    if image.tolist() != [row[::-1] for row in pixels] or array.tolist() != pixels:
        return f"the pixels are {image.tolist()}"


def reproduce(device):
    return check(device, as_a_view)


def control(device):
    return check(device, as_a_copy)


def messages(device):
    texts = []
    for convert in (torch.tensor, torch.as_tensor):
        try:
            convert(torch.arange(3).numpy()[::-1])
        except ValueError as error:
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
