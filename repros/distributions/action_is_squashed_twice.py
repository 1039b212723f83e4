# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A tanh correction that takes the tanh of the action again gives a wrong log-probability"
# kind = "silent"
# symptom = "the log-probability is off by 3"
# origin = "usage"
# reports = [
#     "https://github.com/boyu-ai/Hands-on-RL/issues/44",
#     "https://github.com/boyu-ai/Hands-on-RL/issues/121",
# ]
# documents = ["https://github.com/openai/spinningup/blob/master/spinup/algos/pytorch/sac/core.py"]
# wrong = '''
# u = normal.rsample()
# action = u.tanh()
# log_prob = normal.log_prob(u) - (1 - action.tanh().square() + 1e-7).log()
# '''
# right = '''
# import math
# u = normal.rsample()
# action = u.tanh()
# correction = 2 * (math.log(2) - u - torch.nn.functional.softplus(-2 * u))
# log_prob = normal.log_prob(u) - correction
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""SAC trains, but overestimates the entropy of its policy for large actions.

The density of the action tanh(u) is the density of u divided by the derivative of tanh at u, which
is 1 - action² (boyu-ai/Hands-on-RL#44). The square of the action's tanh is at most 0.58, so the
wrong term never falls below log(0.42), although the right term has no lower bound. For small
actions, the two terms almost agree. The corrected lines compute the same logarithm from u
(openai/spinningup), because 1 - action² is 0 in float32 from |u| = 9.1 on. Then sum over the action
dimensions. If the action is multiplied by a bound afterwards, also subtract the logarithm of the
bound in each dimension (boyu-ai/Hands-on-RL#121).
"""

import math

import torch


def squashed_twice(normal):
    u = normal.rsample()
    action = u.tanh()
    log_prob = normal.log_prob(u) - (1 - action.tanh().square() + 1e-7).log()
    return u, action, log_prob


def squashed_once(normal):
    u = normal.rsample()
    action = u.tanh()
    correction = 2 * (math.log(2) - u - torch.nn.functional.softplus(-2 * u))
    log_prob = normal.log_prob(u) - correction
    return u, action, log_prob


def check(device, act):
    mean, std = torch.tensor([3.0], device=device), torch.tensor([0.01], device=device)
    u, action, log_prob = act(torch.distributions.Normal(mean, std))
    z = (u.item() - 3) / 0.01
    density = math.exp(-z * z / 2) / math.sqrt(2 * math.pi) / 0.01 * math.cosh(u.item()) ** 2
    off = abs(log_prob.item() - math.log(density))
    if off > 0.01:
        return f"the log-probability is off by {off:.2f}"


def reproduce(device):
    return check(device, squashed_twice)


def control(device):
    return check(device, squashed_once)


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
