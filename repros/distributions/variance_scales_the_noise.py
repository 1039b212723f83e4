# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "mean + exp(log_var) * noise takes the variance for the standard deviation"
# kind = "silent"
# symptom = "the samples have a standard deviation of 0.01, not 0.1"
# origin = "usage"
# reports = ["https://github.com/rachtsingh/ibp_vae/issues/3"]
# documents = ["https://github.com/ctallec/world-models/issues/13"]
# wrong = '''
# z = mean + log_var.exp() * torch.randn_like(mean)
# '''
# right = '''
# z = mean + (log_var / 2).exp() * torch.randn_like(mean)
# '''
# rule = "warning"
# when = "the network returns the logarithm of the variance"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""A variational autoencoder trains, but its loss is no longer a bound on the likelihood.

exp(log_var) is the variance, but noise has to be scaled by its square root, the standard deviation
(rachtsingh/ibp_vae#3). The KL term with 1 + log_var - mean² - exp(log_var) belongs to the right
lines. With the wrong line, the two loss terms therefore describe different distributions. They
agree only for a variance of 1. If the output of the encoder is meant as the logarithm of the
standard deviation, the wrong line is right (ctallec/world-models#13). The KL term then needs 2 *
log_std and exp(2 * log_std) instead.
"""

import torch


def scaled_by_variance(mean, log_var):
    z = mean + log_var.exp() * torch.randn_like(mean)
    return z


def scaled_by_deviation(mean, log_var):
    z = mean + (log_var / 2).exp() * torch.randn_like(mean)
    return z


def check(device, draw):
    mean = torch.zeros(4000, device=device)
    z = draw(mean, torch.full_like(mean, 0.01).log())
    deviation = z.square().mean().sqrt().item()
    if abs(deviation - 0.1) > 0.02:
        return f"the samples have a standard deviation of {deviation:.2f}, not 0.1"


def reproduce(device):
    return check(device, scaled_by_variance)


def control(device):
    return check(device, scaled_by_deviation)


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
