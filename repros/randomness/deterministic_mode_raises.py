# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "use_deterministic_algorithms(True) raises for an operation without a deterministic kernel"
# kind = "error"
# symptom = "does not have a deterministic implementation"
# messages = [
#     "does not have a deterministic implementation, but you set",
#     "Deterministic behavior was enabled with either .?torch\\.(?:use_deterministic_algorithms|set_deterministic)\\(True\\)",
# ]
# keywords = [
#     "deterministic training raises RuntimeError",
#     "Trainer(deterministic=True) fails",
#     "CUBLAS_WORKSPACE_CONFIG",
#     "upsample_bilinear2d_backward is not deterministic",
#     "scatter_add or index_add is not deterministic on CUDA",
#     "reproducible results on the GPU",
#     "how to get identical results on GPU in every run",
#     "GPU training gives slightly different numbers each time",
#     "results on cuda not reproducible despite seeds",
#     "same seed, different accuracy on the GPU",
#     "loss differs in the last digits between GPU runs",
#     "runs drift apart after some epochs on the GPU",
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
# weight.index_put_((index,), rows)
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13" }
# ///
"""The message names the operation whose result may depend on the order of the threads, which
is what the flag is for: it finds them (docs: torch.use_deterministic_algorithms). put_()
without accumulate is one on the CPU too. Most others raise on CUDA alone (same page). Write
it with one that has a deterministic kernel, on the CPU, or in another mode (nearest instead
of bilinear).

warn_only=True (pytorch#66233) turns the error into a warning, and the operation stays as it
is.
"""

import warnings

import torch


def scatter(device, write, **options):
    weight, rows = torch.zeros(4, device=device), torch.ones(2, device=device)
    index = torch.tensor([1, 2], device=device)
    enabled = torch.are_deterministic_algorithms_enabled()
    warn_only = torch.is_deterministic_algorithms_warn_only_enabled()
    torch.use_deterministic_algorithms(True, **options)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            write(weight, index, rows)
    except (RuntimeError, UserWarning) as error:
        return str(error)
    finally:
        torch.use_deterministic_algorithms(enabled, warn_only=warn_only)


def reproduce(device):
    return scatter(device, lambda weight, index, rows: weight.put_(index, rows))


def control(device):
    return scatter(device, lambda weight, index, rows: weight.index_put_((index,), rows))


def popular_fix(device):
    return scatter(device, lambda weight, index, rows: weight.put_(index, rows), warn_only=True)


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
