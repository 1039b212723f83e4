# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "torch.tensor() of a list of tensors fails if a tensor has several elements"
# kind = "error"
# symptom = "only one element tensors can be converted to Python scalars"
# messages = [
#     "only one element tensors can be converted to Python scalars",
#     "only integer tensors of a single element can be converted to an index",
# ]
# origin = "design"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/38196",
#     "https://github.com/pytorch/pytorch/issues/127737",
# ]
# documents = ["https://docs.pytorch.org/docs/stable/generated/torch.stack.html"]
# wrong = '''
# features = torch.tensor(features)  # a list of tensors
# '''
# right = '''
# features = torch.stack(features)
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""A list of tensors, such as the outputs of a loop, cannot become one tensor, although a list of
arrays can (pytorch#38196).

torch.tensor() converts each element of the list to a Python number
(torch/csrc/utils/tensor_new.cpp). This works only for tensors with one element. If the result has
an integer or bool dtype, the message says 'can be converted to an index' (pytorch#127737). In
contrast, torch.stack() adds a new first dimension and keeps dtype, device and gradient. If the
tensors are batches of different sizes, use torch.cat(), which joins their rows.

A conversion by way of lists or arrays raises no error, but the result has no gradient, so
backward() does not reach the model.
"""

import torch


def by_tensor(features):
    features = torch.tensor(features)  # a list of tensors
    return features


def by_stack(features):
    features = torch.stack(features)
    return features


def train(device, join):
    layer = torch.nn.Linear(2, 3, bias=False).to(device)
    inputs = torch.tensor([[1.0, 0.0], [0.0, 3.0]], device=device)
    try:
        features = join([layer(x) for x in inputs])
        features.sum().backward()
    except (ValueError, RuntimeError) as error:
        return str(error)
    if not torch.equal(features, layer(inputs)) or layer.weight.grad.tolist() != [[1, 3]] * 3:
        return "the features or their gradients differ from those of the whole batch"


def reproduce(device):
    return train(device, by_tensor)


def control(device):
    return train(device, by_stack)


def messages(device):
    try:
        return str(torch.tensor([torch.zeros(2, dtype=torch.int64, device=device)]))
    except TypeError as error:
        return str(error)


def popular_fix(device):
    return train(device, lambda features: torch.tensor([feature.tolist() for feature in features]))


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control, messages, popular_fix):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
