# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "segment_reduce() returns 1/16 for the mean of 4096 ones in bfloat16 on the CPU"
# kind = "silent"
# symptom = "the mean is 0.0625, not 1.0"
# origin = "torch"
# documents = [
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/aten/src/ATen/native/SegmentReduce.cpp",
#     "https://github.com/pytorch/pytorch/issues/139242",
# ]
# upstream = "unreported"
# wrong = '''
# mean = torch.segment_reduce(x, "mean", lengths=lengths)
# '''
# right = '''
# mean = torch.segment_reduce(x.float(), "mean", lengths=lengths).to(x.dtype)
# '''
# affected = { cpu = ">=1.13" }
# ///
"""The mean of a long segment is much smaller than the values in it.

The kernel sums the values in `scalar_t initial_value`, which is bfloat16
(aten/src/ATen/native/SegmentReduce.cpp). In bfloat16, 256 + 1 is 256, so the sum of the segment is
256 and the mean is 256 / 4096. In float16 the sum stops at 2048, so the mean is 1/2. The "sum"
reduction fails in the same way. The sums, and possibly the counts, of index_reduce() are in
bfloat16 too (pytorch#139242). For a column of 4096 ones, index_reduce() also gives a mean of 1/16
on 2.3 and later. On 1.13 and 2.0, the mean is 1, because the count stops growing together with the
sum.
"""

import torch


def check(device, average):
    x = torch.ones(4098, dtype=torch.bfloat16, device=device, requires_grad=True)
    mean = average(x, torch.tensor([4096, 2], device=device))
    if mean[0] < 0.5:
        return f"the mean is {mean[0].item()}, not 1.0"
    mean[1].backward()
    if mean.tolist() != [1.0, 1.0] or x.grad[-2:].tolist() != [0.5, 0.5] or mean.dtype != x.dtype:
        return f"means {mean.tolist()} in {mean.dtype}, gradient {x.grad[-2:].tolist()}"


def naive(x, lengths):
    mean = torch.segment_reduce(x, "mean", lengths=lengths)
    return mean


def wide(x, lengths):
    mean = torch.segment_reduce(x.float(), "mean", lengths=lengths).to(x.dtype)
    return mean


def reproduce(device):
    return check(device, naive)


def control(device):
    return check(device, wide)


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
