# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "LBFGS raises in a loop that calls step() without a closure"
# kind = "error"
# symptom = "step\\(\\) missing 1 required positional argument: 'closure'"
# messages = ["step\\(\\) missing 1 required positional argument: .closure."]
# keywords = [
#     "how to use LBFGS",
#     "LBFGS in a normal training loop",
#     "LBFGS does not converge",
#     "closure returns the loss",
#     "switching from Adam to LBFGS breaks my loop",
#     "LBFGS loss does not go down after first step",
#     "swap the optimizer for LBFGS in my training",
#     "LBFGS gets stuck at the starting loss",
# ]
# origin = "design"
# reports = [
#     "https://github.com/pnnl/neuromancer/issues/244",
#     "https://github.com/pyro-ppl/pyro/issues/1674",
# ]
# documents = [
#     "https://docs.pytorch.org/docs/stable/optim.html#optimizer-step-closure",
#     "https://github.com/NeuroDiffGym/neurodiffeq/issues/83",
# ]
# wrong = '''
# loss.backward()
# optimizer.step()
# '''
# right = '''
# optimizer.step(closure)  # which clears the gradients, computes the loss and calls backward()
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""A TypeError in the first step: LBFGS evaluates the loss at several points of one step, and
needs a function for it (docs: torch.optim).

A closure that returns the loss at hand (NeuroDiffGym/neurodiffeq#83) ends the error. The loss
is the same at every point then, and LBFGS stops after one step of gradient descent: it
ends far from a minimum that it reaches at once with a real closure.
"""

import torch


def train(device, step):
    weight = torch.tensor([3.0, 3.0], device=device, requires_grad=True)
    scale = torch.tensor([1.0, 10.0], device=device)
    optimizer = torch.optim.LBFGS([weight])

    def closure():
        optimizer.zero_grad()
        loss = (scale * weight.square()).sum()
        loss.backward()
        return loss

    try:
        step(optimizer, closure)
    except TypeError as error:
        return str(error)
    if weight.abs().max() > 0.1:
        return f"the weight ended at {weight.abs().max():.1f}, the minimum is at 0"


def without(optimizer, closure):
    closure()
    optimizer.step()


def with_closure(optimizer, closure):
    optimizer.step(closure)


def of_one_loss(optimizer, closure):
    loss = closure()
    optimizer.step(lambda: loss)


def reproduce(device):
    return train(device, without)


def control(device):
    return train(device, with_closure)


def popular_fix(device):
    return train(device, of_one_loss)


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
