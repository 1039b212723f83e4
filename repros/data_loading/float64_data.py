# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Data from NumPy is float64 and the model is float32"
# kind = "error"
# symptom = "expected scalar type (?:Double|Float) but found (?:Double|Float)|mat1 and mat2 (?:must|to) have the same dtype"
# messages = [
#     "expected (?:object of )?(?:scalar )?type (?:torch\\.(?:cuda\\.)?)?(?:Double(?:Tensor)? but (?:found|got) (?:scalar )?(?:type )?(?:torch\\.(?:cuda\\.)?)?Float|Float(?:Tensor)? but (?:found|got) (?:scalar )?(?:type )?(?:torch\\.(?:cuda\\.)?)?Double)",
#     "mat1 and mat2 (?:must|to) have the same dtype, but got:? (?:Double and Float|Float and Double|double != float|float != double)",
#     "self and mat2 must have the same dtype, but got (?:Double and Float|Float and Double)",
#     "Input type \\((?:torch\\.(?:cuda\\.)?)?Double(?:Tensor)?\\) and (?:weight|bias) type \\((?:torch\\.(?:cuda\\.)?)?Float(?:Tensor)?\\) should be the same",
#     "Input type \\((?:torch\\.(?:cuda\\.)?)?Float(?:Tensor)?\\) and (?:weight|bias) type \\((?:torch\\.(?:cuda\\.)?)?Double(?:Tensor)?\\) should be the same",
#     "expected (?:Double tensor \\(got Float|Float tensor \\(got Double) tensor\\)",
#     "expected m1 and m2 to have the same dtype, but got: (?:float != double|double != float)",
#     "tensors are not the same dtype, found input tensor with (?:Double and (?:parameter|hidden) tensor with Float|Float and (?:parameter|hidden) tensor with Double)",
# ]
# keywords = [
#     "numpy array is float64 and weights are float32",
#     "torch.from_numpy gives double",
#     "pandas data is double",
#     "convert the dataset to float32",
#     "training on a pandas dataframe fails in the linear layer",
#     "regression with numpy features complains about data types",
#     "my csv data does not fit the model's type",
#     "sklearn dataset to tensor, model wants another type",
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
#     "https://github.com/CPJKU/wechsel/issues/2",
# ]
# wrong = '''
# x = torch.frombuffer(data, dtype=torch.float64)  # or torch.from_numpy(array)
# '''
# right = '''
# x = torch.frombuffer(data, dtype=torch.float64).float()  # or array.astype("float32")
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13" }
# ///
"""The first layer raises. NumPy computes in float64; from_numpy() shares the memory of the
array and with it the dtype (docs: torch.from_numpy), as frombuffer() does with a buffer of
doubles, while parameters are float32.

model.double(), as in CPJKU/wechsel#2, moves the failure to whatever is float32 still; here
that is a batch that torch made.
"""

from array import array

import torch


def forward(device, convert, model_dtype=torch.float32):
    data = array("d", [1.0, 2.0, 3.0])
    x = convert(torch.frombuffer(data, dtype=torch.float64)).to(device)
    model = torch.nn.Linear(3, 1).to(device, model_dtype)
    try:
        for batch in (x, torch.zeros(3, device=device)):
            model(batch)
    except RuntimeError as error:
        return str(error)


def reproduce(device):
    return forward(device, lambda x: x)


def control(device):
    return forward(device, lambda x: x.float())


def popular_fix(device):
    return forward(device, lambda x: x, model_dtype=torch.float64)


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
