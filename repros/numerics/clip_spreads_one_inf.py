# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "clip_grad_norm_ turns one infinite gradient into a NaN and zeroes all the others"
# kind = "silent"
# symptom = "\\[nan, 0.0\\]"
# keywords = ["one bad batch destroys the model"]
# origin = "usage"
# reports = ["https://github.com/pytorch/pytorch/issues/46849"]
# documents = ["https://github.com/pytorch/pytorch/pull/53843", "https://github.com/pytorch/pytorch/pull/55169"]
# wrong = '''
# TODO
# '''
# fix = "numerics.clip_or_skip"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The norm is inf, so the coefficient max_norm / inf is 0: inf * 0 is NaN and
everything finite becomes 0.

With one NaN everything becomes NaN. The loss was finite, so a guard on the loss sees
nothing. error_if_nonfinite is still False by default. clip_grad_value_ does what it
says and steps along the infinite element alone.
"""

import torch


def clipped(device, gradient, clip=torch.nn.utils.clip_grad_norm_):
    weight = torch.zeros(2, device=device, requires_grad=True)
    weight.grad = torch.tensor(gradient, device=device)
    clip([weight], 1.0)
    return weight.grad.tolist()


def reproduce(device):
    after = clipped(device, [float("inf"), 3.0])
    if after != [1.0, 0.0]:
        return f"gradient [inf, 3.0] became {after}"


def control(device):
    after = clipped(device, [4.0, 3.0])
    if abs(after[0] - 0.8) > 1e-3:
        return f"gradient [4.0, 3.0] became {after}"


def popular_fix(device):
    after = clipped(device, [float("nan"), 3.0], torch.nn.utils.clip_grad_value_)
    if after[0] != after[0]:
        return f"clip_grad_value_: gradient [nan, 3.0] became {after}"


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
