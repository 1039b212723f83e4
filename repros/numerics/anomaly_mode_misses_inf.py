# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "detect_anomaly() says nothing about an infinite gradient"
# kind = "silent"
# symptom = "detect_anomaly was silent about a gradient of inf"
# keywords = [
#     "anomaly detection finds nothing but the weights become inf",
#     "detect_anomaly passes and gradients are infinite",
#     "set_detect_anomaly does not report inf gradients",
#     "gradient norm is inf, no error from anomaly mode",
#     "debug mode says nothing about infinite gradients",
#     "where does the inf in my gradient come from",
#     "nan one step after a clean anomaly check",
#     "infinite grad not caught by autograd debugging",
#     "grad contains inf and training continues without complaint",
#     "how to find the operation that gives inf gradient",
# ]
# origin = "design"
# reports = ["https://github.com/pytorch/pytorch/issues/160016"]
# documents = [
#     "https://docs.pytorch.org/docs/stable/autograd.html#torch.autograd.detect_anomaly",
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/csrc/autograd/engine.cpp",
#     "https://github.com/pytorch/pytorch/pull/83481",
# ]
# wrong = '''
# with torch.autograd.detect_anomaly():  # meant to find every bad gradient
#     (factor * x.sqrt()).backward()
# '''
# right = '''
# assert x.grad.isfinite()  # after backward()
# '''
# fix = "numerics.find_nonfinite"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The backward under detect_anomaly() passes although the gradient is inf; with a NaN in
the same place (control) it raises.

Anomaly mode looks for NaN alone (torch/csrc/autograd/engine.cpp). A check for inf was
asked for (pytorch#83481, pytorch#160016).
"""

import torch


def backward(device, factor):
    x = torch.zeros((), device=device, requires_grad=True)
    try:
        with torch.autograd.detect_anomaly():
            (factor * x.sqrt()).backward()  # factor / (2 * 0)
    except RuntimeError as error:
        if "returned nan values" not in str(error):
            raise
    else:
        return f"detect_anomaly was silent about a gradient of {x.grad.item()}"


def reproduce(device):
    return backward(device, factor=1)


def control(device):
    return backward(device, factor=0)


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
