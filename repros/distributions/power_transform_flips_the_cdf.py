# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "PowerTransform with a negative exponent makes cdf() return one minus the cdf"
# kind = "silent"
# symptom = "cdf falls from 0.86 to 0.22"
# origin = "torch"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/96494",
#     "https://github.com/pyro-ppl/pyro/issues/3291",
# ]
# documents = [
#     "https://github.com/pytorch/pytorch/pull/104501",
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/distributions/transformed_distribution.py",
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/distributions/transforms.py",
# ]
# fixed_by = "pytorch#104501"
# wrong = '''
# inverse = TransformedDistribution(Exponential(one), [PowerTransform(-one)])
# '''
# fix = "upgrade"
# affected = { cpu = "<2.2", cuda = "<2.2", mps = "<2.2" }
# ///
"""For some distributions, such as an inverse gamma (pyro-ppl/pyro#3291), the result of cdf() falls
as its argument grows.

TransformedDistribution reverses cdf() and icdf() if the signs of its transforms indicate a
decreasing mapping (torch/distributions/transformed_distribution.py). PowerTransform reported a sign
of +1 for every exponent (pytorch#96494), and now reports the sign of its exponent
(torch/distributions/transforms.py).
"""

import torch
from torch.distributions import (
    AffineTransform,
    Exponential,
    PowerTransform,
    TransformedDistribution,
)


def cdf(device, transform, points):
    one = torch.ones((), device=device)
    inverse = TransformedDistribution(Exponential(one), [transform(one)])
    low, high = inverse.cdf(torch.tensor(points, device=device)).tolist()
    if low > high:
        return f"cdf falls from {low:.2f} to {high:.2f}"


def reproduce(device):  # 1 / x
    return cdf(device, lambda one: PowerTransform(-one), [0.5, 4.0])


def control(device):  # -x, which decreases, too
    return cdf(device, lambda one: AffineTransform(0.0, -one), [-4.0, -0.5])


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
