# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Normal.sample() stops the gradient, so the mean learns only from other loss terms"
# kind = "silent"
# symptom = "the mean gets the gradient of the penalty alone"
# origin = "usage"
# documents = [
#     "https://github.com/jankrepl/deepdow/pull/106",
#     "https://docs.pytorch.org/docs/stable/distributions.html#pathwise-derivative",
# ]
# wrong = '''
# z = torch.distributions.Normal(mean, std).sample()
# '''
# right = '''
# z = torch.distributions.Normal(mean, std).rsample()
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The loss decreases and no error is raised. However, the encoder of a variational autoencoder
learns nothing from the reconstruction. In the same way, the actor of SAC learns nothing from the
critic.

sample() draws under no_grad (torch/distributions/normal.py). Because a KL term or an entropy bonus
still depends on the network's output, the output receives some gradient, but none from the
reconstruction or the critic. rsample() draws the same noise, and lets the gradient pass to the mean
and the standard deviation (docs: torch.distributions, pathwise derivative). For REINFORCE and PPO,
sample() with log_prob() is right. Categorical, Bernoulli and Poisson have no rsample(): their
attribute has_rsample is False.
"""

import torch


def sampled(mean, std):
    z = torch.distributions.Normal(mean, std).sample()
    return z


def reparameterized(mean, std):
    z = torch.distributions.Normal(mean, std).rsample()
    return z


def check(device, draw):
    mean, std = (torch.full((2,), value, device=device, requires_grad=True) for value in (1.0, 0.1))
    z = draw(mean, std)
    loss = (z - 5).square().sum() + mean.square().sum()  # reconstruction and penalty
    loss.backward()
    if mean.grad.equal(2 * mean):
        return "the mean gets the gradient of the penalty alone"
    if not torch.allclose(mean.grad, 2 * (z - 5) + 2 * mean, atol=1e-4):
        return f"the gradient of the mean is {mean.grad.tolist()}"
    if not torch.allclose(std.grad, 2 * (z - 5) * (z - mean) / std, atol=1e-2):
        return f"the gradient of the standard deviation is {std.grad.tolist()}"


def reproduce(device):
    return check(device, sampled)


def control(device):
    return check(device, reparameterized)


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
