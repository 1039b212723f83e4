# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Python floats in a dataset come out of the DataLoader as float64"
# kind = "error"
# symptom = "expected scalar type (?:Double|Float) but found (?:Double|Float)|mat1 and mat2 (?:must|to) have the same dtype"
# messages = [
#     "expected (?:object of )?(?:scalar )?type (?:torch\\.(?:cuda\\.)?)?(?:Double(?:Tensor)? but (?:found|got) (?:scalar )?(?:type )?(?:torch\\.(?:cuda\\.)?)?Float|Float(?:Tensor)? but (?:found|got) (?:scalar )?(?:type )?(?:torch\\.(?:cuda\\.)?)?Double)",
#     "mat1 and mat2 (?:must|to) have the same dtype, but got:? (?:Double and Float|Float and Double|double != float|float != double)",
# ]
# keywords = [
#     "DataLoader changes float to double",
#     "default_collate returns DoubleTensor",
#     "labels become float64 in the DataLoader",
#     "set_default_dtype is ignored by the DataLoader",
#     "targets arrive as double although I return a float",
#     "regression labels have the wrong type in the batch",
#     "why is my batch double when the sample is float",
#     "labels float64 on Mac mps after the DataLoader",
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
# loader = DataLoader([0.5, 1.5], batch_size=2)
# '''
# right = '''
# loader = DataLoader(torch.tensor([0.5, 1.5]), batch_size=2)
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13" }
# ///
"""default_collate() makes torch.tensor(batch, dtype=torch.float64) of Python floats, whatever
the default dtype is (torch/utils/data/_utils/collate.py, pytorch#109968). torch.tensor() of
the same numbers is float32. As a feature it fails in the first layer, as shown; as a
target it fails in the loss or in its backward (pytorch#69446).
"""

import torch
from torch.utils.data import DataLoader


def train(device, rows):
    (batch,) = DataLoader(rows, batch_size=2)
    model = torch.nn.Linear(2, 1).to(device)
    try:
        model(batch.to(device))
    except RuntimeError as error:
        return str(error)


def reproduce(device):
    return train(device, [0.5, 1.5])


def control(device):
    return train(device, torch.tensor([0.5, 1.5]))


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
