# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A standard deviation learned without a logarithm turns negative, and Normal() rejects it"
# kind = "error"
# symptom = "Expected parameter scale .{1,200}GreaterThan\\(lower_bound=0\\.0\\)|^the standard deviation is"
# messages = [
#     "Expected parameter scale .{1,300}? to satisfy the constraint GreaterThan\\(lower_bound=0\\.0\\)",
#     "normal expects all elements of std >= 0\\.0",
#     "normal expects std >= 0\\.0, but found std -",
# ]
# elsewhere = ["The parameter scale has invalid values", "normal_ expects std > 0\\.0, but found std=?-"]
# origin = "usage"
# reports = [
#     "https://github.com/unitreerobotics/unitree_rl_lab/issues/20",
#     "https://github.com/sweetice/Deep-reinforcement-learning-with-pytorch/issues/35",
# ]
# documents = [
#     "https://github.com/leggedrobotics/rsl_rl/pull/67",
#     "https://github.com/leggedrobotics/rsl_rl/issues/124",
#     "https://github.com/mujocolab/mjlab/issues/291",
#     "https://github.com/unitreerobotics/unitree_rl_mjlab/pull/8",
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/distributions/normal.py",
# ]
# wrong = '''
# class Policy(nn.Module):
#     def __init__(self, features, actions):
#         super().__init__()
#         self.mean = nn.Linear(features, actions)
#         self.std = nn.Parameter(torch.ones(actions))
#     def forward(self, x):
#         return Normal(self.mean(x), self.std)
# '''
# right = '''
# class Policy(nn.Module):
#     def __init__(self, features, actions):
#         super().__init__()
#         self.mean = nn.Linear(features, actions)
#         self.log_std = nn.Parameter(torch.zeros(actions))
#     def forward(self, x):
#         return Normal(self.mean(x), self.log_std.exp())
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""A PPO or SAC policy, or a VAE encoder, trains for a while and then fails in Normal() or sample().

An optimizer step may carry a parameter, or a linear layer's output, below zero. Near zero the
gradients of a standard deviation are large, so one step of SGD is enough. Adam reaches zero in
small steps if the best value is near zero. Normal() checks its scale
(torch/distributions/normal.py). If validation is off, sample() fails in torch.normal() instead
(leggedrobotics/rsl_rl#124). NaN in the parameter causes the same messages (mujocolab/mjlab#291), so
print the standard deviation first.

The corrected code learns the logarithm (leggedrobotics/rsl_rl#67), whose exp() is positive down to
-103 in float32. If training makes the noise so small that the logarithm falls even lower, call
policy.log_std.clamp_(min=-5) under torch.no_grad() after each step. With log_std.clamp() in
forward(), a value below the bound gets no gradient and stays below it. To convert an old
checkpoint, store the logarithm of std as log_std. If a network computes the standard deviation for
each input, softplus() grows more slowly (leggedrobotics/rsl_rl#67). With std.clamp(min=1e-6), as in
unitreerobotics/unitree_rl_mjlab#8, a parameter below zero also stays below zero, and the standard
deviation remains 1e-6.
"""

import torch
from torch import nn
from torch.distributions import Normal

DATA = [0.1, -0.1, 0.3, -0.3]


def fit(device, policy):
    nn.init.zeros_(policy.mean.weight)
    nn.init.zeros_(policy.mean.bias)
    policy.to(device)
    x, actions = torch.ones(4, 1, device=device), torch.tensor(DATA, device=device).view(4, 1)
    optimizer = torch.optim.SGD(policy.parameters(), lr=0.3)
    for _ in range(100):
        try:
            distribution = policy(x)
            distribution.sample()
        except (ValueError, RuntimeError) as error:
            return str(error)
        optimizer.zero_grad()
        (-distribution.log_prob(actions)).mean().backward()
        optimizer.step()
    best = (sum(value**2 for value in DATA) / 4) ** 0.5  # maximum likelihood: 0.2236
    if abs(distribution.scale[0].item() - best) > 0.01:
        return f"the standard deviation is {distribution.scale[0].item():.6f}, not {best:.4f}"


class Raw(nn.Module):
    def __init__(self, wrap=lambda std: std, **options):
        super().__init__()
        self.mean, self.std = nn.Linear(1, 1), nn.Parameter(torch.ones(1))
        self.wrap, self.options = wrap, options

    def forward(self, x):
        return Normal(self.mean(x), self.wrap(self.std).expand(4, 1), **self.options)


def reproduce(device):
    return fit(device, Raw())


def control(device):
    class Policy(nn.Module):
        def __init__(self, features, actions):
            super().__init__()
            self.mean = nn.Linear(features, actions)
            self.log_std = nn.Parameter(torch.zeros(actions))

        def forward(self, x):
            return Normal(self.mean(x), self.log_std.exp())

    return fit(device, Policy(1, 1))


def messages(device):
    unchecked = fit(device, Raw(validate_args=False))
    try:
        torch.empty(2, device=device).normal_(0, -1)
    except RuntimeError as error:
        return f"{unchecked}\n{error}"


def popular_fix(device):
    return fit(device, Raw(wrap=lambda std: std.clamp(min=1e-6)))


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
