# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Python floats in a dataset come out of the DataLoader as float64"
# kind = "error"
# symptom = "expected scalar type (?:Double|Float) but found (?:Double|Float)|mat1 and mat2 (?:must|to) have the same dtype"
# messages = [
#     "expected scalar type (?:Double but found Float|Float but found Double)",
#     "mat1 and mat2 must have the same dtype, but got (?:Double and Float|Float and Double)",
#     "expected m1 and m2 to have the same dtype, but got: (?:double != float|float != double)",
# ]
# elsewhere = [
#     "expected object of scalar type (?:Double but got scalar type Float|Float but got scalar type Double)",
#     "expected object of type torch\\.(?:cuda\\.)?(?:DoubleTensor but found type torch\\.(?:cuda\\.)?FloatTensor|FloatTensor but found type torch\\.(?:cuda\\.)?DoubleTensor)",
#     "expected scalar type (?:Double but got|Float but got) scalar type (?:Float|Double)",
#     "mat1 and mat2 (?:must|to) have the same dtype, but got:? (?:double != float|float != double)",
# ]
# origin = "design"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/69446",
#     "https://github.com/pytorch/pytorch/issues/109968",
# ]
# documents = [
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/utils/data/_utils/collate.py",
# ]
# wrong = '''
# def __getitem__(self, index):
#     return self.prices[index]  # a Python float
# '''
# right = '''
# def __getitem__(self, index):
#     return torch.tensor(self.prices[index], dtype=torch.get_default_dtype())
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13" }
# ///
"""The function default_collate() converts Python floats with torch.tensor(batch,
dtype=torch.float64), regardless of the default dtype (torch/utils/data/_utils/collate.py,
pytorch#109968). NumPy numbers keep their dtype, which is also float64 by default. With float64
features the first layer raises an error, as shown here. With float64 targets, the backward pass of
HuberLoss and BCELoss raises an error. The backward pass of MSELoss does so in 1.13 and 2.3, but not
in 2.13 (pytorch#69446). With L1Loss, SmoothL1Loss and BCEWithLogitsLoss, the loss is silently
float64.

With batch_size=None, a float stays a Python float. In a spawned worker, the default dtype is
float32 again, so if the model has another dtype, pass that dtype explicitly.
"""

import torch
from torch.utils.data import DataLoader, Dataset


class Prices(Dataset):
    prices = [0.5, 1.5]

    def __len__(self):
        return 2

    def __getitem__(self, index):
        return self.prices[index]  # a Python float


class Tensors(Prices):
    def __getitem__(self, index):
        return torch.tensor(self.prices[index], dtype=torch.get_default_dtype())


def load(dataset, device):
    (batch,) = DataLoader(dataset, batch_size=2)
    model = torch.nn.Linear(2, 1).to(device)
    try:
        model(batch.to(device))
    except RuntimeError as error:
        return str(error)
    if batch.tolist() != [0.5, 1.5]:
        return f"{batch} instead of the prices"


def reproduce(device):
    return load(Prices(), device)


def control(device):
    return load(Tensors(), device)


def messages(device):
    (x,), y = DataLoader(Prices(), batch_size=2), torch.ones(2)
    x, single = x.to(device)[None], torch.nn.Linear(2, 1, bias=False).to(device)
    y = y.to(device)[None]
    calls = [
        lambda: torch.nn.Linear(2, 1).double().to(device)(y),
        lambda: single(x),
        lambda: y @ x.T,
        lambda: x[None].bmm(y.T[None]),
        lambda: y[None].bmm(x.T[None]),
    ]
    texts = []
    for call in calls:
        try:
            call()
        except RuntimeError as error:
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
