# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "One row with target and prediction zero makes the whole SMAPE nan"
# kind = "silent"
# symptom = "SMAPE is nan with finite predictions"
# origin = "usage"
# reports = ["https://github.com/unit8co/darts/issues/2983"]
# documents = ["https://github.com/uber/causalml/pull/1050"]
# wrong = '''
# TODO
# '''
# fix = "numerics.apply_where"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""|p - t| / (|p| + |t|) is 0/0 for a row that is predicted exactly: the better the model
(a clamp at 0, say), the likelier the nan.

The weights are fine, so looking for exploding gradients is a waste of time. nanmean()
hides the rows, it counts perfect predictions out.
"""

import torch


def smape(device, target, mean=torch.mean):
    prediction = torch.tensor([-1.0, 2.0], device=device).clamp(min=0)
    target = torch.tensor(target, device=device)
    return 100 * mean(2 * (prediction - target).abs() / (prediction.abs() + target.abs()))


def reproduce(device):
    if smape(device, [0.0, 1.0]).isnan():
        return "SMAPE is nan with finite predictions"


def control(device):
    if smape(device, [0.5, 1.0]).isnan():
        return "SMAPE is nan with finite predictions"


def popular_fix(device):
    counted = smape(device, [0.0, 1.0], torch.nanmean)
    if abs(counted - 200 / 3) < 0.1:
        return "nanmean drops the row that is predicted exactly: 66.7 instead of 33.3"


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
