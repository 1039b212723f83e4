# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "use_deterministic_algorithms(True) rejects an operation without a deterministic kernel"
# kind = "error"
# symptom = "does not have a deterministic implementation"
# messages = ["does not have a deterministic implementation, but you set"]
# elsewhere = [
#     "Deterministic behavior was enabled with either .?torch\\.(?:use_deterministic_algorithms|set_deterministic)\\(True\\)",
# ]
# origin = "design"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/107999",
#     "https://github.com/pytorch/pytorch/issues/68961",
#     "https://github.com/happyharrycn/actionformer_release/issues/20",
# ]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.use_deterministic_algorithms.html",
#     "https://github.com/pytorch/pytorch/pull/66233",
# ]
# wrong = '''
# weight.put_(index, rows)
# '''
# right = '''
# weight.view(-1)[index.flatten()] = rows.flatten()
# '''
# rule = "note"
# when = "the program runs on CUDA, and no launcher sets CUBLAS_WORKSPACE_CONFIG"
# affected = { cpu = ">=1.13", cuda = ">=1.13" }
# ///
"""The message names an operation whose result may depend on the order of the threads. The flag's
purpose is to find these operations (docs: torch.use_deterministic_algorithms). Without accumulate,
put_() raises the error on the CPU too, and so does max_unpool2d. Most of the other operations raise
it only on CUDA (same page). Replace the operation with an operation that has a deterministic
kernel, run it on the CPU, or use another mode (nearest instead of bilinear).

The index of put_() refers to the flattened tensor, whereas index_put_() takes an index per
dimension. For example, weight.index_put_((index,), rows) writes whole rows of a matrix.

The corrected code is only for put_(). If the weight is not contiguous, view(-1) raises an error. If
CUDA asks for CUBLAS_WORKSPACE_CONFIG instead, set it to :4096:8 before Python starts.

The option warn_only=True (pytorch#66233) turns the error into a warning, but does not make the
operation deterministic.
"""

import warnings

import torch


def put(weight, index, rows):
    weight.put_(index, rows)


def assign(weight, index, rows):
    weight.view(-1)[index.flatten()] = rows.flatten()


def write(device, how, **options):
    weight, rows = torch.zeros(4, 2, device=device), torch.ones(2, device=device)
    index = torch.tensor([[1], [6]], device=device)
    enabled = torch.are_deterministic_algorithms_enabled()
    warn_only = torch.is_deterministic_algorithms_warn_only_enabled()
    torch.use_deterministic_algorithms(True, **options)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            how(weight, index, rows)
    except (RuntimeError, UserWarning) as error:
        return str(error)
    finally:
        torch.use_deterministic_algorithms(enabled, warn_only=warn_only)
    if weight.tolist() != [[0, 1], [0, 0], [0, 0], [1, 0]]:
        return f"the elements 1 and 6 were not written: {weight.tolist()}"


def reproduce(device):
    return write(device, put)


def control(device):
    return write(device, assign)


def messages(device):
    pooled, index = torch.ones(1, 1, 1, 1), torch.zeros(1, 1, 1, 1, dtype=torch.int64)
    return write(device, lambda *_: torch.nn.functional.max_unpool2d(pooled, index, 2))


def popular_fix(device):
    return write(device, put, warn_only=True)


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control, messages, popular_fix):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
