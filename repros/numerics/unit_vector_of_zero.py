# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Dividing vectors by their norm gives nan for a vector of zeros"
# kind = "silent"
# symptom = "the unit vector of zeros is nan"
# origin = "usage"
# reports = [
#     "https://github.com/huggingface/sentence-transformers/issues/625",
#     "https://github.com/huggingface/sentence-transformers/issues/589",
# ]
# documents = [
#     "https://github.com/CorentinJ/Real-Time-Voice-Cloning/pull/678",
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.normalize.html",
# ]
# wrong = '''
# unit = x / x.norm(dim=-1, keepdim=True)
# '''
# right = '''
# norm = torch.linalg.vector_norm(x, dim=-1, keepdim=True)
# unit = x / norm.masked_fill(norm == 0, 1)
# '''
# rule = "note"
# when = "a vector is zero"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""A row of zeros becomes 0 / 0. It can come from an unknown word
(huggingface/sentence-transformers#625) or from a ReLU (CorentinJ/Real-Time-Voice-Cloning#678).

The answer in huggingface/sentence-transformers#625 is torch.nn.functional.normalize(), which
divides by at least 1e-12. This fixes the value, which is enough if x is not trained. However, the
gradient of a row of zeros is divided by 1e-12 as well, so one step of SGD destroys the weights that
produced the row. In float16, 1e-12 is 0, so the value is nan again.

The corrected code also treats a vector as zero if its squares underflow, as they do below 1e-23 in
float32. For such vectors, x / norm gave inf. The second derivative for a row of zeros is nan, so a
gradient penalty has to omit such rows.
"""

import torch


def naive(x):
    unit = x / x.norm(dim=-1, keepdim=True)
    return unit


def guarded(x):
    norm = torch.linalg.vector_norm(x, dim=-1, keepdim=True)
    unit = x / norm.masked_fill(norm == 0, 1)
    return unit


def check(device, unit_of):
    x = torch.tensor([[[3.0, 4.0], [0.0, 0.0]]], device=device, requires_grad=True)
    unit = unit_of(x)
    if unit[0, 1].isnan().all():
        return "the unit vector of zeros is nan"
    (2 * unit[..., 0]).sum().backward()
    # of 3 / 5: (1 - 0.6 * 0.6) / 5 and -0.6 * 0.8 / 5; a row of zeros is taken as it is
    expected = torch.tensor([[[0.256, -0.192], [2.0, 0.0]]], device=device)
    if not torch.allclose(x.grad, expected, atol=1e-4):
        return f"gradient {x.grad.tolist()} instead of {expected.tolist()}"


def reproduce(device):
    return check(device, naive)


def control(device):
    return check(device, guarded)


def popular_fix(device):
    return check(device, lambda x: torch.nn.functional.normalize(x, dim=-1))


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
