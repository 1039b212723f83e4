# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "If a function for LambdaLR returns the learning rate instead of a factor, training uses the square of the rate"
# kind = "silent"
# symptom = "the first step was taken with a learning rate of 0\\.0100, not 0\\.1"
# origin = "usage"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/78917",
#     "https://github.com/lhoyer/MIC/issues/60",
# ]
# documents = ["https://docs.pytorch.org/docs/stable/generated/torch.optim.lr_scheduler.LambdaLR.html"]
# wrong = '''
# lr = 0.1
# optimizer = torch.optim.SGD(model.parameters(), lr=lr)
# scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: lr * 0.9**epoch)
# '''
# right = '''
# lr = 0.1
# optimizer = torch.optim.SGD(model.parameters(), lr=lr)
# scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 0.9**epoch)
# '''
# rule = "warning"
# when = "the learning rate of the optimizer is not 1"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The model learns slowly or not at all: with a rate of 0.001, every step is taken with 0.000001.

LambdaLR takes the rate that each group had when the scheduler was created, and multiplies it by the
function's result (docs: torch.optim.lr_scheduler.LambdaLR). It does so even for the first step
(pytorch#78917). If the function returns a rate, the optimizer's rate is multiplied by this rate
instead of a factor (lhoyer/MIC#60). Return a factor, which is 1 for steps that should use the
optimizer's rate. Dividing the result by the rate of the optimizer gives the same schedule. If each
group has its own rate, one factor keeps their ratio. If the optimizer's rate is 1, both versions
are equal, and some programs rely on this.
"""

import torch


def check(optimizer):
    rate = optimizer.param_groups[0]["lr"]
    if abs(rate - 0.1) > 1e-6:
        return f"the first step was taken with a learning rate of {rate:.4f}, not 0.1"


def reproduce(device):
    model = torch.nn.Linear(1, 1, device=device)
    lr = 0.1
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: lr * 0.9**epoch)
    return check(scheduler.optimizer)


def control(device):
    model = torch.nn.Linear(1, 1, device=device)
    lr = 0.1
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 0.9**epoch)
    return check(scheduler.optimizer)


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
