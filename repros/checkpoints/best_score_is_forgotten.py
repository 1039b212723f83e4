# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A resumed run overwrites its best checkpoint with a worse one because the best score was not saved"
# kind = "silent"
# symptom = "the best checkpoint has a score of 0\\.7, the run had reached 0\\.9"
# origin = "usage"
# reports = [
#     "https://github.com/facebookresearch/ConvNeXt/issues/94",
#     "https://github.com/KaiyangZhou/deep-person-reid/issues/63",
#     "https://github.com/open-mmlab/mmfewshot/issues/30",
# ]
# documents = ["https://github.com/facebookresearch/fairchem/pull/349"]
# wrong = '''
# best = 0.0
# for epoch in range(checkpoint["epoch"] + 1, epochs):  # checkpoint: from an earlier run
#     score = train_and_validate(epoch)
#     if score > best:
#         best = score
#         torch.save(model.state_dict(), best_path)
#     state = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
#     torch.save({**state, "epoch": epoch}, last)
# '''
# right = '''
# best = checkpoint["best"]
# for epoch in range(checkpoint["epoch"] + 1, epochs):  # checkpoint: from an earlier run
#     score = train_and_validate(epoch)
#     if score > best:
#         best = score
#         torch.save(model.state_dict(), best_path)
#     state = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
#     torch.save({**state, "epoch": epoch, "best": best}, last)
# '''
# rule = "warning"
# when = "the first epoch after a resume is worse than the best epoch so far"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""After a restart, the file with the best weights holds weights that are worse than before.

The variable with the best score starts again at 0 (for a loss, at infinity), so the first epoch
after the restart counts as the best so far (facebookresearch/ConvNeXt#94). The overwritten weights
are lost if no other file has them. Counters of early stopping start again too. Save the best score
with the last checkpoint, after the comparison. A first run starts with a checkpoint whose "best" is
0 (for a loss, infinity). An older checkpoint has no such key, and checkpoint["best"] raises a
KeyError: evaluate the weights of the best checkpoint again to get their score. Save the score as a
Python number: torch.load() of torch 2.6 and newer refuses NumPy numbers (see
checkpoints/weights_only_refuses_other_types).
"""

import os
import tempfile

import torch

SCORES = [0.5, 0.9, 0.7, 0.8]


def run(device, folder, train, epochs):
    """Trains up to the epoch, and returns the score of the best checkpoint."""
    model = torch.nn.Linear(1, 1, bias=False, device=device)
    optimizer = torch.optim.Adam(model.parameters())
    last, best_path = os.path.join(folder, "last.pt"), os.path.join(folder, "best.pt")
    checkpoint = {"epoch": -1, "best": 0.0}
    if os.path.exists(last):
        checkpoint = torch.load(last)
        model.load_state_dict(checkpoint["model"])
        optimizer.load_state_dict(checkpoint["optimizer"])

    def train_and_validate(epoch):
        with torch.no_grad():
            model.weight.fill_(SCORES[epoch])
        return SCORES[epoch]

    train(model, optimizer, checkpoint, train_and_validate, last, best_path, epochs)
    return float(torch.load(best_path)["weight"])


def check(device, train):
    with tempfile.TemporaryDirectory() as folder:
        run(device, folder, train, 2)
        score = run(device, folder, train, 3)
    if score != torch.tensor(0.9):
        return f"the best checkpoint has a score of {score:.1f}, the run had reached 0.9"


def reproduce(device):
    def train(model, optimizer, checkpoint, train_and_validate, last, best_path, epochs):
        best = 0.0
        for epoch in range(checkpoint["epoch"] + 1, epochs):  # checkpoint: from an earlier run
            score = train_and_validate(epoch)
            if score > best:
                best = score
                torch.save(model.state_dict(), best_path)
            state = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
            torch.save({**state, "epoch": epoch}, last)

    return check(device, train)


def control(device):
    def train(model, optimizer, checkpoint, train_and_validate, last, best_path, epochs):
        best = checkpoint["best"]
        for epoch in range(checkpoint["epoch"] + 1, epochs):  # checkpoint: from an earlier run
            score = train_and_validate(epoch)
            if score > best:
                best = score
                torch.save(model.state_dict(), best_path)
            state = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
            torch.save({**state, "epoch": epoch, "best": best}, last)

    return check(device, train)


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
