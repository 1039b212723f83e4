# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "kl_divergence(uniform, beta) is NaN if the Uniform starts at 0 or ends at 1"
# kind = "silent"
# symptom = "KL of two equal distributions is nan"
# origin = "torch"
# reports = ["https://github.com/pytorch/pytorch/issues/144279"]
# documents = ["https://github.com/pytorch/pytorch/pull/144220"]
# fixed_by = "pytorch#144220"
# wrong = '''
# kl = kl_divergence(Uniform(0.0, 1.0), prior)
# '''
# right = '''
# kl = kl_divergence(Uniform(1e-6, 1 - 1e-6), prior)
# '''
# fix = "upgrade"
# affected = { cpu = "<2.7", cuda = "<2.7" }
# ///
"""If the Uniform reaches an end of the Beta's support, the divergence is NaN. Uniform(0, 1) and
Beta(1, 1) are the same distribution, so their divergence should be 0 (pytorch#144279).

The helper _x_log_x() multiplied x by log(x), which is 0 times -inf at 0. In newer releases, the
helper uses xlogy() (torch/distributions/kl.py, pytorch#144220). The divergence from Uniform(0, 2)
to a Gamma is NaN up to 2.6 for the same reason. The divergence from a Beta to Uniform(0, 1) is not
NaN.

Move only the bounds that are 0 or 1, and for a Gamma only a bound of 0, as in Uniform(1e-6, 2.0).
For other bounds, the corrected line, copied unchanged, would compute the divergence of a different
Uniform.
"""

import torch
from torch.distributions import Beta, Uniform, kl_divergence


def start(device):
    one = torch.tensor(1.0, device=device)
    return Beta(one, one)


def check(kl):
    if not abs(kl.item()) < 0.01:
        return f"KL of two equal distributions is {kl.item()}"


def reproduce(device):
    prior = start(device)
    kl = kl_divergence(Uniform(0.0, 1.0), prior)
    return check(kl)


def control(device):
    prior = start(device)
    kl = kl_divergence(Uniform(1e-6, 1 - 1e-6), prior)
    return check(kl)


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
