# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "exponential_() and bernoulli_() give the very same random tensor again"
# kind = "silent"
# symptom = "two generators in different states gave the same 1000 numbers"
# keywords = [
#     "torch.multinomial duplicates",
#     "repeated dropout mask on CPU",
#     "two random tensors are exactly identical in one run",
#     "sampling returns the same sequence twice",
#     "dropout drops the same units in different steps",
#     "Monte Carlo samples repeat after many draws",
#     "random draws are duplicated in a long simulation on CPU",
#     "identical gumbel noise appears again",
#     "same random mask shows up later in training",
#     "different seeds give the same random numbers",
#     "sampled tokens repeat exactly for different generator states",
#     "exponential random numbers not independent between calls",
#     "duplicate samples in a large random experiment",
# ]
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
# noise = torch.empty(1000).uniform_(generator=generator).neg_().log1p_().neg_()
# '''
# fix = "randomness.exponential_"
# platform = "linux"
# affected = { cpu = ">=2.0,<2.7" }
# ///
"""Random tensors come back whole: the same noise, to the last digit, out of another state.

Since 2.0 each call on a float32 tensor draws one 32-bit number and makes it the seed of a
new MCG31 stream of MKL's (aten/src/ATen/native/cpu/DistributionKernels.cpp,
pytorch#69967, pytorch#132603); since 2.7 MKL is out of use (pytorch#146174).
Two calls that draw the same number give the same tensor, however long it is. In a
training run they are calls far apart; here they are the first calls of two generators,
with seeds that were searched for it. uniform_() takes one number per element (control).
Builds without MKL, such as those for ARM, take no such streams (not measured).

bernoulli_() repeats in 2.0 to 2.6 alike; on Intel CPUs it took such streams before 2.0
too (pytorch#38558, not measured). multinomial() takes its order from exponential_(), and
its permutations repeat (pytorch#132395).
"""

import torch

SEEDS = 27024, 51983  # both start with the same number and go on with different ones


def repeats(device, draw):
    generators = [torch.Generator(device).manual_seed(seed) for seed in SEEDS]
    first, second = (draw(torch.empty(1000, device=device), one) for one in generators)
    if torch.equal(first, second):
        return "two generators in different states gave the same 1000 numbers"


def reproduce(device):
    return repeats(device, lambda noise, generator: noise.exponential_(generator=generator))


def control(device):
    def draw(noise, generator):
        return noise.uniform_(generator=generator).neg_().log1p_().neg_()

    return repeats(device, draw)


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
