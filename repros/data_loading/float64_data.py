# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A float32 model fails on data from a float64 NumPy array"
# kind = "error"
# symptom = "expected scalar type (?:Double|Float) but found (?:Double|Float)|mat1 and mat2 (?:must|to) have the same dtype"
# messages = [
#     "expected scalar type (?:Double but found Float|Float but found Double)",
#     "mat1 and mat2 must have the same dtype, but got (?:Double and Float|Float and Double)",
#     "expected m1 and m2 to have the same dtype, but got: (?:double != float|float != double)",
#     "self and mat2 must have the same dtype, but got (?:Double and Float|Float and Double)",
#     "Input type \\((?:double\\) and bias type \\(float|float\\) and bias type \\(double)\\) should be the same",
#     "RNN input dtype \\(torch\\.float64\\) does not match weight dtype \\(torch\\.float32\\)",
#     "input must have the type torch\\.float32, got type torch\\.float64",
#     "All tensors must have the same dtype, got input1: double, input2: double, weight: float",
# ]
# elsewhere = [
#     "expected object of scalar type (?:Double but got scalar type Float|Float but got scalar type Double)",
#     "expected object of type torch\\.(?:cuda\\.)?(?:DoubleTensor but found type torch\\.(?:cuda\\.)?FloatTensor|FloatTensor but found type torch\\.(?:cuda\\.)?DoubleTensor)",
#     "expected scalar type (?:Double but got|Float but got) scalar type (?:Float|Double)",
#     "mat1 and mat2 (?:must|to) have the same dtype, but got:? (?:double != float|float != double)",
#     "Input type \\(torch\\.(?:cuda\\.)?(?:DoubleTensor\\) and (?:weight|bias) type \\(torch\\.(?:cuda\\.)?FloatTensor|FloatTensor\\) and (?:weight|bias) type \\(torch\\.(?:cuda\\.)?DoubleTensor)\\) should be the same",
#     "Input type \\((?:double\\) and weight type \\(float|float\\) and weight type \\(double)\\) should be the same",
#     "expected (?:Double tensor \\(got Float|Float tensor \\(got Double) tensor\\)",
#     "tensors are not the same dtype, found input tensor with (?:Double and (?:parameter|hidden) tensor with Float|Float and (?:parameter|hidden) tensor with Double)",
# ]
# origin = "usage"
# reports = [
#     "https://github.com/timeseriesAI/tsai/issues/468",
#     "https://github.com/OUCMachineLearning/OUCML/issues/24",
#     "https://github.com/theislab/scarches/issues/195",
# ]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.from_numpy.html",
#     "https://docs.pytorch.org/docs/stable/generated/torch.frombuffer.html",
# ]
# wrong = '''
# x = torch.frombuffer(data, dtype=torch.float64)  # or torch.from_numpy(array)
# '''
# right = '''
# x = torch.frombuffer(data, dtype=torch.float64).float()  # or array.astype("float32")
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13" }
# ///
"""The first layer raises an error, because NumPy computes in float64 by default, but model
parameters are float32. A tensor that from_numpy() returns shares the array's memory and therefore
also its dtype (docs: torch.from_numpy). From a buffer of doubles, frombuffer() also makes a float64
tensor.

Because float32 has only 24 bits of precision, two timestamps in seconds since 1970 can become equal
even if they are up to two minutes apart. To avoid this, subtract the first timestamp before calling
float().

If all the model's other inputs are float64, model.double() removes the error too, but uses twice
the memory. A linear layer may report "got Float and Double", or a convolution "Input type (float)
and bias type (double)". These messages mean the opposite problem: the model is float64, and
model.float() fixes the error.
"""

from array import array

import torch
from torch import nn


def start(device):
    data = array("d", [1.0, 2.0, 3.0])
    model = nn.Linear(3, 1)
    nn.init.ones_(model.weight), nn.init.zeros_(model.bias)
    return data, model.to(device)


def reproduce(device):
    data, model = start(device)
    x = torch.frombuffer(data, dtype=torch.float64)  # or torch.from_numpy(array)
    try:
        model(x.to(device))
    except RuntimeError as error:
        return str(error)


def control(device):
    data, model = start(device)
    x = torch.frombuffer(data, dtype=torch.float64).float()  # or array.astype("float32")
    if model(x.to(device)).item() != 6:
        return f"{model(x.to(device)).item()} instead of 6"


def messages(device):
    x, y = torch.ones(2, 3, dtype=torch.float64, device=device), torch.ones(2, 3, device=device)
    linear, single = nn.Linear(3, 1).to(device), nn.Linear(3, 1, bias=False).to(device)
    convolution, double = nn.Conv1d(1, 1, 1).to(device), nn.Conv1d(1, 1, 1).double().to(device)
    calls = [
        lambda: linear(x),
        lambda: nn.Linear(3, 1).double().to(device)(y),
        lambda: single(x),
        lambda: x @ y.T,
        lambda: y @ x.T,
        lambda: x[None].bmm(y.T[None]),
        lambda: y[None].bmm(x.T[None]),
        lambda: torch.addmm(y[:, :2], x, x.T),
        lambda: torch.addmm(x[:, :2], y, y.T),
        lambda: convolution(x[:, None]),
        lambda: double(y[:, None]),
        lambda: nn.LSTM(3, 3).to(device)(x[None]),
        lambda: nn.Bilinear(3, 3, 1).to(device)(x, x),
    ]
    texts = []
    for call in calls:
        try:
            call()
        except (RuntimeError, ValueError) as error:
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
