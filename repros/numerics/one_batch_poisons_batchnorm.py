# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "One NaN batch makes every later prediction NaN although all weights are finite"
# kind = "silent"
# symptom = "eval output is nan after 100 clean batches"
# keywords = ["nan only in eval mode", "predictions nan but training loss fine"]
# origin = "usage"
# reports = ["https://github.com/pytorch/pytorch/issues/1206", "https://github.com/pytorch/pytorch/issues/10008"]
# documents = ["https://pytorch.org/docs/stable/generated/torch.nn.BatchNorm1d.html"]
# wrong = '''
# TODO
# '''
# fix = "numerics.find_nonfinite"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The forward in train mode writes the batch's statistics into running_mean; a moving
average never forgets a NaN.

Skipping the optimizer step does not help: the buffer was written before. Training
output stays fine, only eval() shows it.
"""

import torch


def train(device, first_value, skip_bad_steps=False):
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.BatchNorm1d(2), torch.nn.Linear(2, 1)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for batch in range(101):
        x = torch.randn(8, 2)
        if batch == 0:
            x[0, 0] = first_value
        loss = model(x.to(device)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        if batch > 0 or not skip_bad_steps:
            optimizer.step()
    healthy = all(parameter.isfinite().all() for parameter in model.parameters())
    if model.eval()(torch.zeros(1, 2, device=device)).isnan():
        return f"eval output is nan after 100 clean batches; all weights finite: {healthy}"


def reproduce(device):
    return train(device, float("nan"), skip_bad_steps=True)


def control(device):
    return train(device, 0.0, skip_bad_steps=True)


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
