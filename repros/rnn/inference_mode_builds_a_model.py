# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A model built or loaded under inference_mode trains until the optimizer steps"
# kind = "error"
# symptom = "Inplace update to inference tensor outside InferenceMode"
# messages = ["Inplace update to inference tensor outside InferenceMode is not allowed"]
# sources = ["https://github.com/pytorch/pytorch/issues/53343", "https://github.com/pytorch/pytorch/issues/74094"]
# fix = "rnn.predict"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""Parameters made under inference_mode() are inference tensors: forward and backward
pass, the in-place update is refused.
"""

import torch


def train(device, mode):
    with mode():
        model = torch.nn.Linear(2, 1).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    try:
        for parameter in model.parameters():
            parameter.grad = torch.ones_like(parameter)
        optimizer.step()
    except RuntimeError as error:
        return str(error)


def reproduce(device):
    return train(device, torch.inference_mode)


def control(device):
    return train(device, torch.no_grad)


if __name__ == "__main__":
    import sys

    sys.exit(reproduce(sys.argv[1] if sys.argv[1:] else "cpu"))
