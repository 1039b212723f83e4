# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A table cached by the first predict() under inference_mode breaks training"
# kind = "error"
# symptom = "Inference tensors cannot be saved for backward"
# messages = ["Inference tensors cannot be saved for backward"]
# keywords = ["position table", "rotary cache", "lazily built mask"]
# origin = "design"
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.autograd.grad_mode.inference_mode.html",
#     "https://github.com/Dao-AILab/flash-attention/pull/299",
#     "https://github.com/pytorch/pytorch/pull/161164",
# ]
# wrong = '''
# with torch.inference_mode():
#     table()  # the first call fills the cache
# output = weight * table()
# '''
# right = '''
# with torch.no_grad():
#     table()
# '''
# fix = "rnn.no_grad_eval"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""Training after a prediction raises in a layer that keeps a table it built lazily, such as
rotary embeddings (Dao-AILab/flash-attention#299).

A tensor made in inference_mode() stays an inference tensor after it, and autograd refuses
to save one (torch/csrc/autograd/saved_variable.cpp). Later releases say "Please do not use
Tensors created in inference mode" in the second half of the message (pytorch#161164).
"""

import functools

import torch


def train_after_predict(device, mode):
    @functools.lru_cache
    def table():
        return torch.arange(3.0, device=device)

    weight = torch.ones(3, device=device, requires_grad=True)
    with mode():
        table()  # predict() is the first that needs it
    try:
        weight * table()
    except RuntimeError as error:
        return str(error)


def reproduce(device):
    return train_after_predict(device, torch.inference_mode)


def control(device):
    return train_after_predict(device, torch.no_grad)


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
