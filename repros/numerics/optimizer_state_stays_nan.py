# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Weights restored after a NaN step are NaN again one step later"
# kind = "silent"
# symptom = "nan again after one clean step"
# keywords = [
#     "nan comes back after loading the checkpoint",
#     "restored good weights and next step is nan",
#     "reloading the model after nan does not help",
#     "rollback to the last checkpoint gives nan immediately",
#     "nan again right after I reset the weights",
#     "loss fine once, then nan after resetting the model",
#     "recovering from a nan step fails with Adam",
#     "weights ok, loss ok, after step nan",
#     "replaced nan weights but they return",
#     "how to recover training after a nan update",
#     "clean gradients and the parameters still become nan",
#     "zeroed nan gradients, parameters nan anyway",
# ]
# origin = "usage"
# reports = ["https://github.com/Trusted-AI/adversarial-robustness-toolbox/issues/910"]
# documents = [
#     "https://github.com/Trusted-AI/adversarial-robustness-toolbox/pull/917",
#     "https://docs.pytorch.org/docs/stable/generated/torch.optim.Adam.html",
# ]
# wrong = '''
# weight.fill_(1.0)  # back to the good weights, under no_grad()
# '''
# right = '''
# weight.fill_(1.0)
# optimizer.load_state_dict(good)
# '''
# fix = "numerics.Snapshot"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""After a NaN step the weights are set back to good values, and the next step, with a
clean gradient, makes them NaN again.

Adam's moments went NaN in the bad step too, and every later step is computed from them
(docs: torch.optim.Adam).
"""

import copy

import torch


def recover(device, restore):
    weight = torch.ones((), device=device, requires_grad=True)
    optimizer = torch.optim.Adam([weight], lr=0.1)
    good = copy.deepcopy(optimizer.state_dict())
    (weight * float("nan")).backward()
    optimizer.step()
    with torch.no_grad():
        weight.fill_(1.0)  # noticed: back to the good weights
    if restore:
        optimizer.load_state_dict(good)
    optimizer.zero_grad()
    (weight * 1.0).backward()
    optimizer.step()
    if weight.isnan():
        return "nan again after one clean step"


def reproduce(device):
    return recover(device, restore=False)


def control(device):
    return recover(device, restore=True)


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
