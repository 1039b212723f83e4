# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A table cached by the first predict() under inference_mode breaks training"
# kind = "error"
# symptom = "Inference tensors cannot be saved for backward"
# messages = ["Inference tensors cannot be saved for backward"]
# origin = "usage"
# reports = ["https://github.com/pytorch/pytorch/issues/161164", "https://github.com/quic/aimet/issues/2026"]
# wrong = '''
# TODO
# '''
# fix = "rnn.predict"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""A tensor made under inference_mode() stays an inference tensor for life; autograd
refuses to save it.

Lazily built position tables, masks and hidden states are made by whoever calls first.
detach() does not launder it, clone() does (torch/csrc/autograd/saved_variable.cpp). The
second half of the message changed in 2.9.
"""

import torch


def train_after_predict(device, mode, launder=lambda table: table):
    weight = torch.ones(3, device=device, requires_grad=True)
    with mode():
        table = torch.ones(3, device=device)  # the first call was predict(), so it fills the cache
    try:
        (weight * launder(table)).sum().backward()
    except RuntimeError as error:
        return str(error)


def reproduce(device):
    return train_after_predict(device, torch.inference_mode)


def control(device):
    return train_after_predict(device, torch.no_grad)


def popular_fix(device):
    return train_after_predict(device, torch.inference_mode, torch.Tensor.detach)


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
