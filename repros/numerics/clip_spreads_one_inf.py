# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "clip_grad_norm_() turns one infinite gradient into a NaN and zeroes all the others"
# kind = "silent"
# symptom = "became \\[nan, 0.0\\]"
# origin = "design"
# reports = ["https://github.com/pytorch/pytorch/issues/46849"]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.clip_grad_norm_.html",
#     "https://github.com/pytorch/pytorch/pull/53843",
#     "https://github.com/pytorch/pytorch/pull/55169",
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/nn/utils/clip_grad.py",
# ]
# wrong = '''
# torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=0.5)
# optimizer.step()
# '''
# right = '''
# max_norm = 0.5
# gradients = [p.grad for p in model.parameters() if p.grad is not None]
# largest = torch.stack([gradient.abs().max() for gradient in gradients]).max()
# if largest.isfinite():
#     for gradient in gradients:
#         gradient.div_((largest / max(max_norm, 1)).clamp(min=1))  # so that no square overflows
#     torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
#     optimizer.step()
# '''
# fix = "numerics.clip_or_skip"
# use = '''
# from numerics import clip_or_skip
# clip_or_skip(optimizer, max_norm=0.5)
# '''
# choice = "Use the fix, which passes over the gradients once and accepts sparse and empty gradients; use the lines without the fix if you cannot add a file and all gradients are dense"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The loss is finite and one gradient is inf. After clip_grad_norm_(), that gradient is NaN and all
others are 0. If all gradients are finite but large (1e20), all of them become 0 with the default
norm_type of 2, so the batch has no effect on the step.

The norm is inf, so every gradient is multiplied by max_norm / (norm + 1e-6) = 0, and inf * 0 is NaN
(torch/nn/utils/clip_grad.py). The norm of finite gradients is inf if their squares overflow. With
error_if_nonfinite=True an error is raised. This setting became the default, but that change was
reverted (pytorch#53843, pytorch#55169).

A step with an infinite gradient has to be skipped. If the largest gradient is finite and above both
1 and max_norm, the corrected code first divides all gradients by largest / max(max_norm, 1). After
this, their direction is the same, and their norm is still at least max_norm, so they can be
clipped. Without max(), the divisor itself is inf if max_norm is below 1 and the largest gradient is
near the limit of its dtype. In float16, gradients soon reach this limit. In the corrected code,
clip_grad_norm_() returns the norm of the divided gradients. In float16 this norm is inf above
65504, for example for 200000 equal gradients with a max_norm of 1000. On 1.13, clamp() does not
accept float16 on the CPU.
"""

import torch


class Root(torch.nn.Module):
    def __init__(self, device, weight):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.tensor(weight, device=device))


def start(device, weight, size=1.0):
    model = Root(device, weight)
    (size * model.weight.sqrt().sum()).backward()  # the derivative of sqrt at 0 is inf
    return model, torch.optim.SGD(model.parameters(), lr=1.0)


def reproduce(device):
    seen = []
    for weight, size in (([0.0, 0.0625], 1.0), ([0.25, 0.0625], 1e20)):
        model, optimizer = start(device, weight, size)
        before = model.weight.grad.tolist()
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=0.5)
        optimizer.step()
        if model.weight.grad.isnan().any() or not model.weight.grad.any():
            seen.append(f"gradient {before} became {model.weight.grad.tolist()}")
    return "; ".join(seen) or None


def control(device):
    model, optimizer = start(device, [0.25, 0.0625])
    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=0.5)
    optimizer.step()
    return stepped(model, [0.25, 0.0625])


def stepped(model, weight):
    # By a gradient of (1, 2) in direction and of 0.5 in length.
    seen, expected = model.weight.tolist(), [weight[0] - 0.05**0.5, weight[1] - 0.2**0.5]
    if max(abs(a - b) for a, b in zip(seen, expected)) > 1e-4:
        return f"the weight is {seen} instead of {expected}"


def clip(model, optimizer):
    max_norm = 0.5
    gradients = [p.grad for p in model.parameters() if p.grad is not None]
    largest = torch.stack([gradient.abs().max() for gradient in gradients]).max()
    if largest.isfinite():
        for gradient in gradients:
            gradient.div_((largest / max(max_norm, 1)).clamp(min=1))  # so that no square overflows
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        optimizer.step()


def right(device):
    for size in (1e-3, 1.0, 1e20, 1.5e38):
        model, optimizer = start(device, [0.25, 0.0625], size)
        clip(model, optimizer)
        if size == 1e-3:  # short enough: as it is
            if abs(model.weight[1].item() - (0.0625 - 0.002)) > 1e-6:
                return f"a short gradient gives {model.weight.tolist()}"
        elif problem := stepped(model, [0.25, 0.0625]):
            return problem
    model, optimizer = start(device, [0.0, 0.0625])
    clip(model, optimizer)
    if model.weight.tolist() != [0.0, 0.0625]:
        return f"a step by an infinite gradient, to {model.weight.tolist()}"


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control, right):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
