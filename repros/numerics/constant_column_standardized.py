# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A column that is constant in the training data makes the loss nan from the first step"
# kind = "silent"
# symptom = "the first loss is nan"
# messages = ["loss: nan\\b", "loss = nan\\b", "loss=nan\\b", "loss:nan\\b", "loss': nan\\b", "\\bloss nan\\b"]
# keywords = [
#     "loss is nan from the start",
#     "nan after normalizing the features",
#     "standard deviation is zero",
#     "loss nan in the first iteration",
#     "all predictions are nan",
#     "first batch already gives nan on my tabular data",
#     "nan loss from the very beginning with a csv",
#     "normalized features contain nan values",
#     "z-score of my dataset produces nan",
#     "(x - mean) / std gives nan",
#     "works on full data, nan on a small subset",
#     "input tensor has nan after scaling the columns",
#     "one-hot or flag column always zero makes nan",
#     "data has no missing values, loss is nan anyway",
#     "regression on tabular data prints nan every epoch",
#     "standardizing a feature with one value only",
#     "pixel that is always black gives nan after normalization",
#     "nan predictions on every row of the table",
#     "preprocessing introduces nan in the inputs",
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
# deviation = x.std(0)
# x = (x - x.mean(0)) / deviation.where(deviation > 0, torch.ones_like(deviation))
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The first loss is nan already, with clean data: the standard deviation of a constant column
is 0, and 0 / 0 is nan in every row of it (fastai/fastai#889). One such column spoils the
output of a linear layer.

A trial on a subset, in which a column happens to be constant, meets it (fastai/fastai#889).
"""

import torch


def first_loss(device, safe):
    x = torch.tensor([[1.0, 5.0], [2.0, 5.0], [3.0, 5.0]], device=device)
    deviation = x.std(0)
    if safe:
        deviation = deviation.where(deviation > 0, torch.ones_like(deviation))
        x = (x - x.mean(0)) / deviation
    else:
        x = (x - x.mean(0)) / x.std(0)
    if torch.nn.Linear(2, 1).to(device)(x).square().mean().isnan():
        return "the first loss is nan"


def reproduce(device):
    return first_loss(device, safe=False)


def control(device):
    return first_loss(device, safe=True)


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
