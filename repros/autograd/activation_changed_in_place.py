# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "y += x after a ReLU makes backward() fail, even if every ReLU has inplace=False"
# kind = "error"
# symptom = "modified by an inplace operation"
# messages = [
#     "one of the variables needed for gradient computation has been modified by an inplace operation",
# ]
# origin = "usage"
# reports = ["https://github.com/lyongo/NWPU-MOC/issues/4"]
# documents = [
#     "https://github.com/quark0/darts/issues/109",
#     "https://docs.pytorch.org/docs/stable/notes/autograd.html#in-place-operations-with-autograd",
# ]
# wrong = '''
# y = relu(layer(x))
# y += x
# '''
# right = '''
# y = relu(layer(x))
# y = y + x
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""backward() raises an error if `+=` changes the output of a ReLU after the ReLU has saved it.

A ReLU's backward pass needs the output of its forward pass. An in-place change increments the
tensor's version, and backward() compares this version with the version at the time of saving
(torch/csrc/autograd/saved_variable.cpp). A change to y.data does not increment the version, so it
hides the error and gives a wrong gradient. The statement `y += x` is an in-place change, whereas `y
= y + x` creates a new tensor (control). The new tensor has the promoted dtype, so under autocast it
is float32 if x is float32, whereas `y += x` keeps the dtype of y. Users first tried inplace=False
in every ReLU (lyongo/NWPU-MOC#4, quark0/darts#109), but this does not remove the `+=` (popular
fix).

The functions sigmoid(), tanh(), exp() and sqrt() save their output too, and so does
leaky_relu(inplace=True). By contrast, gelu(), silu() and the out-of-place leaky_relu() do not. The
assignment `y[mask] = 0` is also an in-place change, but `y = y.masked_fill(mask, 0)` is not.
"""

import torch


def in_place(relu, layer, x):
    y = relu(layer(x))
    y += x
    return y


def out_of_place(relu, layer, x):
    y = relu(layer(x))
    y = y + x
    return y


def train(device, block, inplace=True):
    x = torch.tensor([[-1.0, 2.0]], device=device, requires_grad=True)
    layer = torch.nn.Linear(2, 2).to(device)
    torch.nn.init.eye_(layer.weight)
    torch.nn.init.zeros_(layer.bias)
    y = block(torch.nn.ReLU(inplace=inplace), layer, x)
    try:
        y.sum().backward()
    except RuntimeError as error:
        return str(error)
    if y.tolist() != [[-1, 4]] or x.grad.tolist() != [[1, 2]]:
        return f"the output is {y.tolist()}, the gradient {x.grad.tolist()}"


def reproduce(device):
    return train(device, in_place)


def control(device):
    return train(device, out_of_place)


def popular_fix(device):
    return train(device, in_place, inplace=False)


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
