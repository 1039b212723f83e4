# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "entropy() of an expanded Multinomial raises AttributeError"
# kind = "error"
# symptom = "'Multinomial' object has no attribute '_binomial'"
# messages = ["'Multinomial' object has no attribute '_binomial'"]
# origin = "torch"
# reports = ["https://github.com/pytorch/pytorch/issues/197898"]
# documents = ["https://github.com/pytorch/pytorch/pull/198006"]
# fixed_by = "pytorch#198006"
# wrong = '''
# entropy = Multinomial(4, probs).expand((3,)).entropy()
# '''
# right = '''
# entropy = Multinomial(4, probs.expand(3, -1)).entropy()
# '''
# fix = "upgrade"
# affected = { cpu = "<2.15", cuda = "<2.15" }
# ///
"""entropy() fails on an expanded Multinomial, but works on a Multinomial that is built from
expanded probabilities (control). For a batch of probabilities, pass all the new sizes:
probs.expand(3, 2, -1) corresponds to expand((3, 2)).

The constructor stores a Binomial for entropy(), but expand() does not copy it
(torch/distributions/multinomial.py, pytorch#197898).
"""

import math

import torch
from torch.distributions import Multinomial


def start(device):
    return torch.tensor([0.5, 0.5], device=device)


def check(entropy):
    tails = [math.comb(4, n) / 2**4 for n in range(5)]
    expected = -sum(p * math.log(p) for p in tails)
    if entropy.shape != (3,) or not torch.allclose(entropy, torch.full_like(entropy, expected)):
        return f"the entropy is {entropy.tolist()}, not {expected:.3f} three times"


def reproduce(device):
    probs = start(device)
    try:
        entropy = Multinomial(4, probs).expand((3,)).entropy()
        return check(entropy)
    except AttributeError as error:
        return str(error)


def control(device):
    probs = start(device)
    entropy = Multinomial(4, probs.expand(3, -1)).entropy()
    return check(entropy)


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
