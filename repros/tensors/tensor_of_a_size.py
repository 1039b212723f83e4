# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "torch.Tensor(2) is a tensor of two uninitialized numbers, not the number 2"
# kind = "silent"
# symptom = "the temperature has 2 elements"
# origin = "design"
# reports = ["https://github.com/kevinzakka/pytorch-goodies/issues/8"]
# documents = [
#     "https://docs.pytorch.org/docs/stable/tensors.html",
#     "https://github.com/pytorch/tutorials/issues/41",
# ]
# wrong = '''
# temperature = torch.Tensor(2)
# '''
# right = '''
# temperature = torch.tensor(2.0)
# '''
# rule = "note"
# when = "the number was meant as a value"
# affected = { cpu = ">=1.13" }
# ///
"""The logits of two classes are divided by whatever was in memory, without an error.

torch.Tensor() and similar types, such as torch.FloatTensor() and torch.LongTensor(), take a size
(pytorch/tutorials#41), whereas torch.tensor() takes the values (docs: torch.Tensor). The memory
often holds zeros, sometimes NaN or 1e-41, so the result changes from run to run. By contrast,
torch.Tensor([2]) is a tensor with the single value 2, and torch.Tensor(2.0) raises a TypeError.
Keep the decimal point: torch.tensor(2) is an integer tensor, and nn.Parameter() rejects integers.
"""

import torch


def check(temperature):
    logits = torch.tensor([[2.0, -4.0], [6.0, 0.0]])
    if temperature.numel() != 1:
        if (logits / temperature).shape == logits.shape:  # silent
            return f"the temperature has {temperature.numel()} elements"
    elif (logits / temperature).tolist() != [[1.0, -2.0], [3.0, 0.0]]:
        return f"the logits are {(logits / temperature).tolist()}"


def reproduce(device):
    temperature = torch.Tensor(2)
    return check(temperature)


def control(device):
    temperature = torch.tensor(2.0)
    return check(temperature)


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
