# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "exponential_() can return the same numbers from two states of the generator"
# kind = "silent"
# symptom = "two generators in different states gave the same 1000 numbers"
# origin = "torch"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/132395",
#     "https://discuss.pytorch.org/t/bug-in-torch-multinomial-generated-distribution-is-modestly-incorrect-edit-this-is-a-regression-and-appears-to-be-due-to-an-analogous-bug-in-tensor-exponential/207149",
# ]
# documents = [
#     "https://github.com/pytorch/pytorch/pull/38558",
#     "https://github.com/pytorch/pytorch/pull/69967",
#     "https://github.com/pytorch/pytorch/pull/132603",
#     "https://github.com/pytorch/pytorch/pull/146174",
# ]
# fixed_by = "pytorch#146174"
# wrong = '''
# noise = torch.empty(1000).exponential_(generator=generator)
# '''
# right = '''
# least = torch.finfo(torch.float32).eps / 4  # half of the next number stands for a 0
# noise = -torch.log1p(-torch.rand(1000, generator=generator).clamp(min=least))
# '''
# fix = "randomness.exponential_"
# use = '''
# from randomness import exponential_
# noise = exponential_(torch.empty(1000), generator=generator)
# '''
# choice = "Use the lines without the fix for float32; use the fix for other dtypes and rates. For a random mask, write torch.rand(shape, generator=generator) < p. For dropout, upgrade to torch 2.7"
# affected = { cpu = ">=2.0,<2.7" }
# platform = "linux"
# ///
"""Whole random tensors repeat: from another state, a generator can draw exactly the same noise, to
the last digit.

From 2.0 on, each call uses a 32-bit number as the seed of a new MCG31 stream of MKL
(aten/src/ATen/native/cpu/DistributionKernels.cpp, pytorch#69967, pytorch#132603). Since 2.7, torch
no longer uses MKL here (pytorch#146174). Two calls with the same seed return the same tensor,
whatever its length, and in float64 too. In a training run, two such calls are far apart. Here they
are the first calls of two generators, whose seeds were chosen to show the failure. By contrast,
torch.rand() draws one number per element (control). One in 2**24 of these numbers is 0. If such a 0
were replaced by a number of almost 0, this noise would be far below all other noise. It would
select even a class with a weight of 1e-20. The corrected code never returns a number above 16.64,
whereas exponential_() exceeds this bound for one number in 17 million. Builds without MKL, such as
builds for ARM, do not use these streams (not measured).

In 2.0 to 2.6, bernoulli_() and dropout repeat in the same way. On Intel CPUs, bernoulli_() used
these streams before 2.0 too (pytorch#38558, not measured). The permutations that multinomial()
draws also repeat, because exponential_() determines their order (pytorch#132395). Instead, (weights
/ noise).topk(count).indices draws `count` indices without replacement.
"""

import torch

SEEDS = 27024, 51983  # both start with the same number and go on with different ones


def of_mkl(generator):
    noise = torch.empty(1000).exponential_(generator=generator)
    return noise


def of_uniform(generator):
    least = torch.finfo(torch.float32).eps / 4  # half of the next number stands for a 0
    noise = -torch.log1p(-torch.rand(1000, generator=generator).clamp(min=least))
    return noise


def twice(draw):
    return [draw(torch.Generator().manual_seed(seed)) for seed in SEEDS]


def check(draw):
    first, second = twice(draw)
    if torch.equal(first, second):
        return "two generators in different states gave the same 1000 numbers"
    if first.min() < 1e-9 or not 0.8 < first.mean() < 1.2:
        return f"the mean is {first.mean().item()}, the smallest {first.min().item()}"


def reproduce(device):
    return check(of_mkl)


def control(device):
    if torch.equal(*twice(lambda generator: torch.rand(1000, generator=generator) < 0.5)):
        return "two masks are equal"
    if torch.equal(*twice(lambda generator: (1 / of_uniform(generator)).topk(500).indices)):
        return "two samples without replacement are equal"
    return check(of_uniform)


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
