# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Filtering the predictions for NaN inputs out of the loss leaves NaN in the weight gradients"
# kind = "silent"
# symptom = "loss is finite, the weight's gradient is nan"
# origin = "design"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/23156",
#     "https://github.com/pytorch/pytorch/issues/94700",
# ]
# documents = ["https://github.com/IVRL/VolRecon/issues/18"]
# wrong = '''
# output = x @ weight  # a row of x holds a NaN
# rows = output.isfinite()
# loss = (output[rows] - y[rows]).square().mean()
# loss.backward()
# '''
# right = '''
# rows = x.flatten(1).isfinite().all(dim=1)
# output = x[rows] @ weight
# loss = (output - y[rows]).square().mean()
# loss.backward()
# '''
# fix = "loss.masked_mean"
# use = '''
# from loss import masked_mean
# rows = x.flatten(1).isfinite().all(dim=1)
# output = torch.nan_to_num(x, nan=0.0, posinf=0.0, neginf=0.0) @ weight
# loss = masked_mean((output - y).square().movedim(0, -1), rows)
# loss.backward()
# '''
# choice = "Normally, use the lines without the fix; use the fix if the batch has to keep its shape, or if a batch without any good rows should raise an error"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The loss is finite, but the gradient is not, because the selection stops the NaN only in the
forward pass. The backward pass multiplies the zero gradient of the dropped rows by their NaN inputs
(pytorch#23156). Users are advised to apply nan_to_num() to the predictions (IVRL/VolRecon#18),
which has the same result. This is the expected behavior (pytorch#94700).

Filter the rows before the model, not after it. Alternatively, fill the inputs and exclude the
filled rows from the loss (BatchNorm still counts them). A row that contains even one NaN is
dropped. If every row has a NaN, the corrected code gives a loss of NaN and a gradient of 0. If only
one row is left, BatchNorm1d raises an error. A NaN that the model computes from finite inputs
remains. If only y contains NaN, rows = y.isfinite() is enough.
"""

import torch


def start(device):
    x = torch.tensor([[1.0, 1.0], [float("nan"), 1.0], [2.0, 0.0]], device=device)
    return (
        x,
        torch.tensor([0.5, 0.5], device=device, requires_grad=True),
        torch.ones(3, device=device),
    )


def check(weight, loss):
    gradient = weight.grad.tolist()
    if loss.isfinite() and not weight.grad.isfinite().all():
        return f"the loss is finite, the weight's gradient is {gradient[0]}"
    if gradient != [0, 0]:  # both good rows are predicted exactly
        return f"the gradient is {gradient}"


def reproduce(device):
    x, weight, y = start(device)
    output = x @ weight  # a row of x holds a NaN
    rows = output.isfinite()
    loss = (output[rows] - y[rows]).square().mean()
    loss.backward()
    return check(weight, loss)


def control(device):
    x, weight, y = start(device)
    rows = x.flatten(1).isfinite().all(dim=1)
    output = x[rows] @ weight
    loss = (output - y[rows]).square().mean()
    loss.backward()
    return check(weight, loss)


def popular_fix(device):
    x, weight, y = start(device)
    loss = (torch.nan_to_num(x @ weight) - y).square().mean()
    loss.backward()
    return check(weight, loss)


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
