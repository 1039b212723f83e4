# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Standardizing a column that is constant in the training data makes the first loss nan"
# kind = "silent"
# symptom = "the first loss is nan"
# elsewhere = [
#     "loss: nan\\b",
#     "loss = nan\\b",
#     "loss=nan\\b",
#     "loss:nan\\b",
#     "loss': nan\\b",
#     "\\bloss nan\\b",
# ]
# origin = "usage"
# reports = [
#     "https://github.com/fastai/fastai/issues/889",
#     "https://github.com/evandowning/deepreflect/issues/11",
# ]
# documents = ["https://github.com/ludwig-ai/ludwig/pull/2543"]
# wrong = '''
# x = (x - x.mean(0)) / x.std(0)
# '''
# right = '''
# constant = x.amax(0) == x.amin(0)
# mean = x.mean(0).where(~constant, x[0])  # without what rounding leaves of it
# std = x.std(0).masked_fill(constant, 1)
# x = (x - mean) / std  # validation data too, by the same two
# '''
# rule = "note"
# when = "a column is constant"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""Even with clean data, the first loss is already nan. The standard deviation of a constant column
is 0, and 0 / 0 is nan in every row (fastai/fastai#889). One such column spoils a linear layer's
output.

If a column happens to be constant in the subset that is chosen for a trial run, this run fails too
(fastai/fastai#889). The mean of a constant 0.1 is rounded, so subtracting the mean leaves a small
remainder instead of 0. Often 1e-8 is added to the deviation, but dividing the remainder by 1e-8
makes it large again. Dividing it by 0 gives inf, so the loss is inf instead of nan. In a tensor
with only this column, the deviation is itself about 1e-8, so a test for 0 does not detect it. For a
constant 1.7e9, such as a timestamp, the remainder is 128, so replacing the deviation by 1 is not
enough. The corrected code therefore uses a constant column's value as its mean. If one value in a
column of 0.1 differs in its last bit, the column does not count as constant, and its values become
-31.
"""

import torch


def naive(x, later):
    mean, std = x.mean(0), x.std(0)
    return (x - mean) / std, (later - mean) / std


def guarded(x, later):
    constant = x.amax(0) == x.amin(0)
    mean = x.mean(0).where(~constant, x[0])  # without what rounding leaves of it
    std = x.std(0).masked_fill(constant, 1)
    x = (x - mean) / std  # validation data too, by the same two
    return x, (later - mean) / std


def check(device, standardized):
    column = torch.linspace(1, 3, 1001, device=device)
    x = torch.stack([column, 0 * column + 5, 0 * column + 0.1, 0 * column + 1.7e9], dim=1)
    later = torch.tensor([[2.0, 6.0, 0.2, 1.7e9]], device=device)
    x, later = standardized(x, later)
    if torch.nn.Linear(4, 1).to(device)(x).square().mean().isnan():
        return "the first loss is nan"
    if abs(x[:, 0].square().mean().item() - 1) > 0.01 or x[:, 1:].abs().max() > 1e-4:
        return "the columns are not of variance 1 and 0"
    alone, _ = standardized(torch.full((1000, 1), 0.1, device=device), later[:, :1])
    if alone.abs().max() > 1e-4:
        return f"a column of 0.1 becomes {alone[0].item():g}"
    if not torch.allclose(later, later.new_tensor([[0.0, 1.0, 0.1, 0.0]]), atol=1e-4):
        return f"a later row becomes {later.tolist()}"


def reproduce(device):
    return check(device, naive)


def control(device):
    return check(device, guarded)


def popular_fix(device):
    def with_epsilon(x, later):
        mean, std = x.mean(0), x.std(0) + 1e-8
        return (x - mean) / std, (later - mean) / std

    return check(device, with_epsilon)


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
