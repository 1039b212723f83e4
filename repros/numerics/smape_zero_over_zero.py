# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A single 0 / 0 makes the whole SMAPE nan"
# kind = "silent"
# symptom = "SMAPE is nan with finite predictions"
# messages = ["Backward\\w{0,3}.{1,2} returned nan values in its \\d{1,2}\\w\\w output"]
# origin = "usage"
# documents = [
#     "https://github.com/uber/causalml/pull/1050",
#     "https://github.com/facebook/prophet/issues/2577",
#     "https://github.com/unit8co/darts/pull/2984",
# ]
# wrong = '''
# error, total = (prediction - target).abs(), prediction.abs() + target.abs()
# smape = (2 * error / total).mean()
# '''
# right = '''
# error, total = (prediction - target).abs(), prediction.abs() + target.abs()
# smape = (2 * error / total.masked_fill(total == 0, 1)).mean()
# '''
# rule = "warning"
# when = "the prediction and the target of one row are both 0"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The metric is nan although predictions and targets are finite. If both are 0 in one row, |p - t|
/ (|p| + |t|) is 0/0 there, so the mean over all rows is nan.

The prediction for such a row is exact, and other libraries have fixed this by counting the row as 0
(uber/causalml#1050, unit8co/darts#2984). In MAPE, |p - t| / |t|, a target of 0 with a nonzero
prediction gives inf, which the corrected code does not fix. In float16, a sum above 65504 is inf,
and its row counts as 0, so pass float32 tensors to this code. In float32, if the sum is below
6e-39, for example with softplus(-90) and a target of 0, the gradient can still be nan or inf.
"""

import torch


def naive(prediction, target):
    error, total = (prediction - target).abs(), prediction.abs() + target.abs()
    smape = (2 * error / total).mean()
    return smape


def guarded(prediction, target):
    error, total = (prediction - target).abs(), prediction.abs() + target.abs()
    smape = (2 * error / total.masked_fill(total == 0, 1)).mean()
    return smape


def check(device, smape_of):
    prediction = torch.tensor([0.0, 2.0, 0.0], device=device, requires_grad=True)
    smape = smape_of(prediction, torch.tensor([0.0, 1.0, 3.0], device=device))
    if smape.isnan():
        return "SMAPE is nan with finite predictions"
    smape.backward()
    # (0 + 2 / 3 + 2) / 3; of the second row: 4 * 1 / (2 + 1) ** 2 / 3
    if abs(smape.item() - 8 / 9) > 1e-5 or abs(prediction.grad[1].item() - 4 / 27) > 1e-5:
        return f"SMAPE {smape.item():g}, gradient {prediction.grad.tolist()}"
    if not prediction.grad.isfinite().all():
        return f"the gradient is {prediction.grad.tolist()}"


def reproduce(device):
    return check(device, naive)


def control(device):
    return check(device, guarded)


def messages(device):
    prediction = torch.zeros(1, device=device, requires_grad=True)
    try:
        with torch.autograd.detect_anomaly():
            naive(prediction, torch.zeros(1, device=device)).backward()
    except RuntimeError as error:
        return str(error)


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
