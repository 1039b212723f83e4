# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Training stops early as usual and the metric of the best model is nan"
# kind = "silent"
# symptom = "stopped after epoch 45 .* SMAPE nan%"
# keywords = ["nan predictions after training"]
# origin = "usage"
# reports = ["https://github.com/pytorch/pytorch/issues/196083"]
# documents = ["https://pytorch.org/docs/stable/notes/serialization.html"]
# wrong = '''
# TODO
# '''
# fix = "numerics.Snapshot"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""`val < best` is False for NaN, so a run that went NaN at epoch 31 just runs out of
patience 15 epochs later, like any other.

The "best" weights are a reference to the live ones (best_state_is_an_alias), so the
restored model is the ruined one. Clipping, smaller learning rates and other
initialisations change nothing about it.
"""

import copy

import torch


def fit(device, keep, patience=15):
    torch.manual_seed(0)
    model = torch.nn.Linear(2, 1).to(device)
    x, y = torch.rand(16, 2).to(device) + 1, torch.rand(16, 1).to(device) + 1
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    best, waited, state = float("inf"), 0, None
    for epoch in range(1, 101):
        inputs = x * float("inf") if epoch == 31 else x  # one bad batch
        optimizer.zero_grad()
        (model(inputs) - y).square().mean().backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        validation = (model(x) - y).square().mean().item()
        if validation < best:
            best, waited, state = validation, 0, keep(model.state_dict())
        else:
            waited += 1
        if waited == patience:
            break
    model.load_state_dict(state)
    smape = (2 * (model(x) - y).abs() / (model(x).abs() + y.abs())).mean().item()
    if smape != smape:
        return f"stopped after epoch {epoch} with best loss {best:.3f} and SMAPE {100 * smape:.1f}%"


def reproduce(device):
    return fit(device, keep=lambda state: state)


def control(device):
    return fit(device, keep=copy.deepcopy)


def popular_fix(device):
    return fit(device, keep=dict)


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
