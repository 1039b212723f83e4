# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "If gaussian_nll_loss() gets a standard deviation, the model learns to output the variance instead"
# kind = "silent"
# symptom = "at the true standard deviation the gradient is -0.25, not 0"
# origin = "usage"
# documents = [
#     "https://github.com/unit8co/darts/pull/1162",
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.GaussianNLLLoss.html",
# ]
# wrong = '''
# loss = torch.nn.functional.gaussian_nll_loss(mean, target, std)
# '''
# right = '''
# loss = torch.nn.functional.gaussian_nll_loss(mean, target, std.square())
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""Training converges, but the predicted standard deviations are the squares of the real ones.

The third argument is the variance (docs: torch.nn.GaussianNLLLoss), whereas
torch.distributions.Normal() takes a standard deviation. The model predicts errors of 2 as 4, and
errors of 0.1 as 0.01, so intervals are too wide or too narrow. For a negative std, the wrong line
raises an error, but its square is accepted, so make std positive, for example with softplus().
Variances are clamped to eps, 1e-6 by default: a standard deviation below 0.001 is not learned
unless eps is smaller or the targets are scaled. If the model predicts the logarithm of the
variance, pass log_var.exp(): a log-variance raises an error only if one of its values is negative.
A model that was trained with the wrong line is still usable if its output is read as a variance.
"""

import torch


def of_deviation(mean, target, std):
    loss = torch.nn.functional.gaussian_nll_loss(mean, target, std)
    return loss


def of_variance(mean, target, std):
    loss = torch.nn.functional.gaussian_nll_loss(mean, target, std.square())
    return loss


def check(device, loss_of):
    target = torch.tensor([2.0, -2.0], device=device)
    std = torch.full((2,), 2.0, device=device, requires_grad=True)
    loss = loss_of(torch.zeros(2, device=device), target, std)
    loss.backward()
    gradient = std.grad.sum().item()
    if abs(gradient) > 1e-4:
        return f"at the true standard deviation the gradient is {gradient:.2f}, not 0"
    expected = -torch.distributions.Normal(0.0, 2.0).log_prob(target.cpu()).mean().item()
    if abs(loss.item() + 0.9189 - expected) > 0.001:  # the loss omits log(2 * pi) / 2
        return f"the loss is {loss.item():.3f}, not {expected - 0.9189:.3f}"


def reproduce(device):
    return check(device, of_deviation)


def control(device):
    return check(device, of_variance)


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
