# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A model built or loaded under inference_mode trains until the optimizer steps"
# kind = "error"
# symptom = "Inplace update to inference tensor outside InferenceMode"
# messages = ["Inplace update to inference tensor outside InferenceMode is not allowed"]
# origin = "usage"
# reports = ["https://github.com/pytorch/pytorch/issues/53343", "https://github.com/pytorch/pytorch/issues/74094"]
# wrong = '''
# TODO
# '''
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

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
