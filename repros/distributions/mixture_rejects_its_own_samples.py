# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "log_prob() of a mixture of Binomial distributions raises an error for a batch of values"
# kind = "error"
# symptom = "The size of tensor a \\(2\\) must match the size of tensor b \\(3\\) at non-singleton dimension 0"
# origin = "torch"
# reports = ["https://github.com/pyro-ppl/pyro/issues/3419"]
# documents = ["https://github.com/pytorch/pytorch/pull/151317"]
# fixed_by = "pytorch#151317"
# wrong = '''
# mixture = MixtureSameFamily(weights, components)
# log_prob = mixture.log_prob(values)
# '''
# right = '''
# mixture = MixtureSameFamily(weights, components, validate_args=False)
# log_prob = mixture.log_prob(values)
# '''
# affected = { cpu = "<2.8", cuda = "<2.8" }
# ///
"""For a batch of values, log_prob() fails with a message about sizes that do not match.

Before computing anything, log_prob() checks the values against the support. The mixture used the
support of its components. If this support depends on a parameter, such as a Binomial's total count,
the support has one more dimension than the values (pytorch#151317). Mixtures of Uniform or Pareto
distributions fail in the same way, but mixtures of Poisson, Bernoulli or Categorical distributions
do not. A single value passes the check, and so does a batch of as many values as there are
components.

The components still check the values, so a value outside the support raises ValueError. If the
components have different supports, for example because of total counts of 2 and 4, one component
rejects samples of another, even in newer releases. Create these components with validate_args=False
as well.
"""

import math

import torch
from torch.distributions import Binomial, Categorical, MixtureSameFamily


def start(device):
    half = torch.full((3,), 0.5, device=device)
    return Categorical(half), Binomial(4, half), torch.ones(2, device=device)


def check(log_prob):
    expected = math.log(4 / 2**4)  # one head in four throws
    if not torch.allclose(log_prob, torch.full_like(log_prob, expected)):
        return f"log_prob is {log_prob.tolist()}, not {expected:.3f}"


def reproduce(device):
    weights, components, values = start(device)
    try:
        mixture = MixtureSameFamily(weights, components)
        log_prob = mixture.log_prob(values)
        return check(log_prob)
    except RuntimeError as error:
        return str(error)


def control(device):
    weights, components, values = start(device)
    mixture = MixtureSameFamily(weights, components, validate_args=False)
    log_prob = mixture.log_prob(values)
    if problem := check(log_prob):
        return problem
    try:
        mixture.log_prob(9 * values)
    except ValueError:
        return None
    return "9 heads in four throws have a probability"


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
