# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A table that predict() caches under inference_mode() makes later training fail"
# kind = "error"
# symptom = "Inference tensors cannot be saved for backward"
# messages = ["Inference tensors cannot be saved for backward"]
# origin = "design"
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.autograd.grad_mode.inference_mode.html",
#     "https://github.com/Dao-AILab/flash-attention/pull/299",
#     "https://github.com/pytorch/pytorch/pull/161164",
# ]
# wrong = '''
# with torch.inference_mode():
#     prediction = model(x)  # its first call fills a cache
# loss = criterion(model(x), y)
# loss.backward()
# '''
# right = '''
# with torch.no_grad():
#     prediction = model(x)
# torch.clear_autocast_cache()  # before torch 2.11, autocast keeps casts without a graph
# loss = criterion(model(x), y)
# loss.backward()
# '''
# fix = "rnn.no_grad_eval"
# use = '''
# from rnn import no_grad_eval
# with no_grad_eval(model):
#     prediction = model(x)
# loss = criterion(model(x), y)
# loss.backward()
# '''
# choice = "Normally, use the lines without the fix; use the fix if the prediction should run in eval mode"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""Training after a prediction fails in a layer that caches a lazily built table, such as rotary
embeddings (Dao-AILab/flash-attention#299).

A tensor created in inference_mode() stays an inference tensor after the block, and autograd refuses
to save it (torch/csrc/autograd/saved_variable.cpp). An existing table has to be built again.
Alternatively, call copy.deepcopy(model) outside the mode, before the optimizer is built: in the
copy, the table is a normal tensor. If the table depends on a parameter, clear the table after the
prediction: a table that was cached under no_grad() silently leaves the parameter without a
gradient. A table that is only added to other tensors causes no error, because addition saves no
tensors for the backward pass (tools/autograd/derivatives.yaml). Later releases say "Please do not
use Tensors created in inference mode" in the second half of the message (pytorch#161164).
"""

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(3))
        self.table = None

    def forward(self, x):
        if self.table is None:
            self.table = torch.arange(3.0, device=x.device)
        return x * self.weight * self.table


def start(device):
    x = torch.ones(1, 3, device=device)
    return Model().to(device), torch.nn.MSELoss(reduction="sum"), x, torch.zeros_like(x)


def reproduce(device):
    model, criterion, x, y = start(device)
    try:
        with torch.inference_mode():
            model(x)  # its first call fills a cache
        loss = criterion(model(x), y)
        loss.backward()
    except RuntimeError as error:
        return str(error)


def control(device):
    model, criterion, x, y = start(device)
    with torch.no_grad():
        prediction = model(x)
    torch.clear_autocast_cache()  # before torch 2.11, autocast keeps casts without a graph
    loss = criterion(model(x), y)
    loss.backward()
    if prediction.requires_grad or model.weight.grad.tolist() != [0, 2, 8]:
        return f"the gradient is {model.weight.grad.tolist()}"


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
