# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Reading a tensor right after a non_blocking copy to the CPU reads garbage"
# kind = "silent"
# symptom = "of .* elements had not arrived"
# origin = "usage"
# reports = ["https://github.com/pytorch/pytorch/issues/127612", "https://github.com/pytorch/pytorch/issues/139550", "https://github.com/pytorch/pytorch/issues/140296", "https://github.com/pytorch/pytorch/issues/137878"]
# wrong = '''
# TODO
# '''
# fix = "data_loading.to_device"
# affected = { cuda = ">=1.13" }
# ///
"""non_blocking=True returns before the copy has happened. To the device that is safe,
stream order protects it; to the host nothing does.

The host memory is pinned behind the scenes, so the read does not wait. Synchronise
first, or copy without non_blocking.
"""

import torch


def read(device, non_blocking):
    source = torch.ones(64 * 2**20, device=device)
    busy = torch.ones(4096, 4096, device=device)
    warm = torch.ones_like(source).to(
        "cpu", non_blocking=True
    )  # leaves a zeroed host block in the allocator's cache
    torch.cuda.synchronize()
    warm.zero_()
    del warm
    for _ in range(50):
        busy @ busy  # keeps the device occupied while the host runs ahead
    late = (source.to("cpu", non_blocking=non_blocking) != 1).sum().item()
    if late:
        return f"{late} of {source.numel()} elements had not arrived when they were read"


def reproduce(device):
    return read(device, non_blocking=True)


def control(device):
    return read(device, non_blocking=False)


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
