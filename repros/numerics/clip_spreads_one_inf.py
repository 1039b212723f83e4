# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "clip_grad_norm_ turns one infinite gradient into a NaN and zeroes all the others"
# kind = "silent"
# symptom = "became \\[nan, 0.0\\]"
# keywords = [
#     "one bad batch destroys the model",
#     "nan weights after gradient clipping",
#     "clipping turns inf gradients into nan",
#     "grad clipping does not protect against inf",
#     "one outlier sample turns the weights into nan",
#     "loss finite, weights nan after clipped step",
#     "gradients all zero except one nan",
#     "single infinite gradient wipes out the whole update",
#     "all parameters fine except one layer full of nan",
#     "clip_grad_norm_ gives nan and zeros",
#     "gradient clipping is on and I still get nan",
#     "model becomes nan after one weird batch",
# ]
# origin = "design"
# reports = ["https://github.com/pytorch/pytorch/issues/46849"]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.clip_grad_norm_.html",
#     "https://github.com/pytorch/pytorch/pull/53843",
#     "https://github.com/pytorch/pytorch/pull/55169",
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/nn/utils/clip_grad.py",
# ]
# wrong = '''
# torch.nn.utils.clip_grad_norm_([weight], 1.0)  # one gradient is inf
# '''
# right = '''
# clip_or_skip(optimizer, max_norm=1.0)
# '''
# fix = "numerics.clip_or_skip"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The loss is finite and one gradient is inf; after clip_grad_norm_() that one is NaN and
all others are 0.

The norm is inf, so every gradient is multiplied by max_norm / (norm + 1e-6) = 0, and
inf * 0 is NaN (torch/nn/utils/clip_grad.py). error_if_nonfinite=True raises; it became
the default and was taken back (pytorch#53843, pytorch#55169).
"""

import torch


def clip(device, weight):
    weight = torch.tensor(weight, device=device, requires_grad=True)
    loss = weight.sqrt().sum()
    loss.backward()
    before = weight.grad.tolist()
    torch.nn.utils.clip_grad_norm_([weight], 1.0)
    if loss.isfinite() and weight.grad.isnan().any():
        return f"gradient {before} became {weight.grad.tolist()}"


def reproduce(device):
    return clip(device, [0.0, 0.0625])  # the derivative of sqrt at 0 is inf


def control(device):
    return clip(device, [0.25, 0.0625])


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
