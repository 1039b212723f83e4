# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "log_prob() of Beta(1, 1) is NaN at 0 and at 1"
# kind = "silent"
# symptom = "log_prob of 0 and of 1 is \\[nan, nan\\], not 0"
# origin = "torch"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/92260",
#     "https://github.com/pytorch/pytorch/issues/65811",
# ]
# documents = ["https://github.com/pytorch/pytorch/pull/103605"]
# fixed_by = "pytorch#103605"
# wrong = '''
# log_prob = Beta(a, b).log_prob(action)
# '''
# right = '''
# eps = torch.finfo(action.dtype).eps
# log_prob = Beta(a, b).log_prob(action.clamp(eps, 1 - eps))
# '''
# fix = "upgrade"
# affected = { cpu = "<2.1", cuda = "<2.1" }
# ///
"""A single action at an end of the range makes the loss NaN, although validation accepts the action
and its density is 1.

Beta calls Dirichlet.log_prob(), which multiplied log(value) by concentration - 1, and -inf times 0
is NaN. In newer releases, log_prob() uses xlogy() (torch/distributions/dirichlet.py,
pytorch#103605).

For a concentration other than 1, log_prob() at the corresponding end is infinite in newer releases
too, so the ratio of two policies is NaN. Clamping helps there as well, because the density of the
clamped value is finite. However, clamping also moves values between 0 and eps whose density was
already finite, and in bfloat16 eps is 0.008. Clamp the value that the Beta itself returned. If
actions were scaled to the range -1 to 1, scale them back first, because all negative actions would
otherwise become eps. For a Dirichlet, divide the clamped components by their sum again: otherwise,
if many were clamped, validation rejects them.
"""

import torch
from torch.distributions import Beta


def start(device):
    action = torch.tensor([0.0, 1.0], device=device)
    return action, torch.ones_like(action), torch.ones_like(action)


def check(log_prob):
    if not (log_prob.abs() < 0.01).all():
        return f"log_prob of 0 and of 1 is {log_prob.tolist()}, not 0"


def reproduce(device):
    action, a, b = start(device)
    log_prob = Beta(a, b).log_prob(action)
    return check(log_prob)


def control(device):
    action, a, b = start(device)
    eps = torch.finfo(action.dtype).eps
    log_prob = Beta(a, b).log_prob(action.clamp(eps, 1 - eps))
    return check(log_prob)


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
