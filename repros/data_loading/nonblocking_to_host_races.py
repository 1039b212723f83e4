# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Reading a tensor right after a non_blocking copy to the CPU can return old values"
# kind = "silent"
# symptom = "of .* elements had not arrived"
# origin = "design"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/127612",
#     "https://github.com/pytorch/pytorch/issues/86264",
#     "https://github.com/PTB-MR/mrpro/issues/984",
# ]
# documents = ["https://docs.pytorch.org/tutorials/intermediate/pinmem_nonblock.html"]
# wrong = '''
# host = source.to("cpu", non_blocking=True)
# late = (host != 1).sum().item()
# '''
# right = '''
# host = source.to("cpu")  # it waits
# '''
# fix = "data_loading.to_device"
# use = '''
# from data_loading import to_device
# host = to_device(source, "cpu")
# '''
# choice = "Use the line without the fix for a single tensor; use the fix for a whole batch of tensors"
# rule = "warning"
# when = "the tensor comes from a GPU"
# affected = { cuda = ">=1.13" }
# ///
"""A copy with non_blocking=True returns before the data has arrived, and the host does not wait for
the data. Call torch.cuda.synchronize() before reading the tensor, or copy without non_blocking
(docs: tutorials, pinmem_nonblock). According to the maintainers, this behavior is expected
(pytorch#127612).
"""

import torch


def busy(device):
    source = torch.ones(32 * 2**20, device=device)
    work = torch.ones(4096, 4096, device=device)
    warm = torch.ones_like(source).to("cpu", non_blocking=True)
    torch.cuda.synchronize()
    warm.zero_()
    del warm  # leaves a zeroed host block in the allocator's cache
    for _ in range(50):
        work @ work  # keeps the device occupied while the host runs ahead
    return source


def check(host):
    late = (host != 1).sum().item()
    if late:
        return f"{late} of {host.numel()} elements had not arrived when they were read"


def reproduce(device):
    source = busy(device)
    host = source.to("cpu", non_blocking=True)
    return check(host)


def control(device):
    source = busy(device)
    host = source.to("cpu")  # it waits
    return check(host)


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
