# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Dropped models that refer to themselves run the device out of memory"
# kind = "oom"
# symptom = "can't allocate memory|out of memory"
# messages = ["DefaultCPUAllocator: can't allocate memory", "CUDA out of memory. Tried to allocate"]
# keywords = ["memory not freed after del model"]
# origin = "usage"
# reports = ["https://github.com/pytorch/pytorch/issues/27600", "https://github.com/pytorch/pytorch/issues/18853"]
# documents = ["https://pytorch.org/docs/stable/notes/faq.html"]
# wrong = '''
# TODO
# '''
# fix = "memory.release"
# affected = { cpu = ">=1.13", cuda = ">=1.13" }
# platform = "linux"
# ///
"""An object in a reference cycle is freed by the garbage collector, not by `del`; and
the collector counts objects, not bytes.

A few large tensors never trigger it, so memory runs out while nothing holds it.
empty_cache() frees nothing that is still referenced, and the allocator calls the same
function itself before it raises. gc.collect() is what helps.
"""

import contextlib
import gc

import torch

MIB = 2**20


class Probe:
    def __init__(self, device):
        self.tensor = torch.empty(192 * MIB, dtype=torch.uint8, device=device)
        self.callback = self.__init__  # a bound method: the object now refers to itself


def probe_repeatedly(device, between):
    with limited(device, 768 * MIB):
        for _ in range(12):
            try:
                Probe(device)
            except RuntimeError as error:
                return str(error)
            between()


@contextlib.contextmanager
def limited(device, size):
    if device == "cuda":
        torch.cuda.set_per_process_memory_fraction(
            size / torch.cuda.get_device_properties(0).total_memory
        )
        yield
        torch.cuda.set_per_process_memory_fraction(1.0)
        return
    import resource

    with open("/proc/self/statm") as statm:
        mapped = int(statm.read().split()[0]) * resource.getpagesize()
    old = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (mapped + size, old[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, old)


def reproduce(device):
    return probe_repeatedly(device, between=lambda: None)


def control(device):
    return probe_repeatedly(device, between=gc.collect)


def popular_fix(device):
    return probe_repeatedly(device, between=torch.cuda.empty_cache)


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control, popular_fix):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
