# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Standardizing a batch of one sample gives nan, because std() of one value is nan"
# kind = "silent"
# symptom = "the standardized advantage of one sample is nan"
# messages = ["(std|var)\\(\\): degrees of freedom is <= 0"]
# origin = "design"
# reports = [
#     "https://github.com/DLR-RM/stable-baselines3/issues/325",
#     "https://github.com/DLR-RM/stable-baselines3/issues/265",
#     "https://github.com/pytorch/pytorch/issues/29372",
# ]
# documents = [
#     "https://github.com/DLR-RM/stable-baselines3/pull/1025",
#     "https://docs.pytorch.org/docs/stable/generated/torch.std.html",
# ]
# wrong = '''
# advantage = (x - x.mean()) / (x.std() + 1e-8)
# '''
# right = '''
# advantage = (x - x.mean()) / (x.std() + 1e-8) if x.numel() > 1 else x
# '''
# rule = "note"
# when = "the tensor has a single element"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""Training works up to the last batch of the epoch, which has a single sample. From then on,
everything is nan (DLR-RM/stable-baselines3#1025).

By default std() divides by n - 1, so for one value it computes 0 / 0, which is nan (pytorch#29372).
Adding 1e-8 protects against a standard deviation of zero, but not against nan
(DLR-RM/stable-baselines3#325). With unbiased=False, the standard deviation is 0. The standardized
advantage is 0 too, because the single value is its own mean, so the model learns nothing from the
sample. The corrected code leaves the sample unchanged. With SGD, a raw advantage of 50 therefore
leads to a step that is 50 times as large as for an advantage of 1. If the raw values are far from
1, skip the sample, for example with drop_last=True. If you standardize each column with std(0), the
special case is a single row, so test len(x) > 1 instead. In float16, 1e-8 is 0, so equal values
give nan as well: standardize x.float() instead.
"""

import warnings

import torch


def check(device, standardize):
    values = torch.tensor([2.0, 4.0, 9.0], device=device, dtype=torch.float64)
    for x in (values, values[:1]):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # newer releases warn of the degrees of freedom
            advantage = standardize(x.float())
        if advantage.isnan().all():
            return "the standardized advantage of one sample is nan"
        expected = (x - 5) / 13**0.5 if len(x) > 1 else x  # variance: (9 + 1 + 16) / 2
        if not torch.allclose(advantage.double(), expected):
            return f"advantage {advantage.tolist()} instead of {expected.tolist()}"


def naive(x):
    advantage = (x - x.mean()) / (x.std() + 1e-8)
    return advantage


def guarded(x):
    advantage = (x - x.mean()) / (x.std() + 1e-8) if x.numel() > 1 else x
    return advantage


def reproduce(device):
    return check(device, naive)


def control(device):
    return check(device, guarded)


def messages(device):
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        for of_one in (torch.std, torch.var):
            of_one(torch.ones(1, device=device))
    return "\n".join(str(one.message) for one in warned)


def popular_fix(device):
    return check(device, lambda x: (x - x.mean()) / (x.std(unbiased=False) + 1e-8))


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control, messages, popular_fix):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
