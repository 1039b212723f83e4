# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Without shuffle=True, a model trained on rows sorted by class may predict only the last class"
# kind = "silent"
# symptom = "every row is predicted as the last class"
# origin = "design"
# reports = ["https://github.com/Deci-AI/super-gradients/issues/416"]
# documents = [
#     "https://docs.pytorch.org/docs/stable/data.html",
#     "https://github.com/pytorch/vision/issues/7818",
# ]
# wrong = '''
# loader = DataLoader(rows, batch_size=10)
# '''
# right = '''
# loader = DataLoader(rows, batch_size=10, shuffle=True)
# '''
# rule = "note"
# when = "the rows are sorted, for example by class"
# affected = { cpu = ">=1.13" }
# ///
"""The loss falls while the rows of one class are read. After the epoch, however, the model may
predict the same class for all rows.

DataLoader keeps the dataset's order unless it gets shuffle=True (docs: torch.utils.data), and
datasets that list a folder per class are sorted by class (pytorch/vision#7818). While the model
sees a single class, every step moves all predictions toward it. With an IterableDataset or a
sampler, shuffle=True raises a ValueError: let the dataset or the sampler shuffle. A recurrent model
that carries its hidden state from batch to batch needs the rows in order.
"""

import torch
from torch.utils.data import DataLoader, TensorDataset


def start():
    labels = torch.arange(4).repeat_interleave(50)  # 50 rows of class 0, then 50 of class 1, ...
    features = 0.5 * torch.nn.functional.one_hot(labels) + 1
    return TensorDataset(features, labels)


def check(rows, loader, device):
    model = torch.nn.Linear(4, 4).to(device)
    torch.nn.init.zeros_(model.weight)
    torch.nn.init.zeros_(model.bias)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    for _ in range(3):
        for x, y in loader:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(x.to(device)), y.to(device)).backward()
            optimizer.step()
    features, labels = rows.tensors
    predicted = model(features.to(device)).argmax(1).cpu()
    if (predicted == labels[-1]).all():
        return "every row is predicted as the last class"
    if not predicted.equal(features.argmax(1)):
        return f"{int((predicted != labels).sum())} of {len(labels)} predictions are wrong"


def reproduce(device):
    rows = start()
    loader = DataLoader(rows, batch_size=10)
    return check(rows, loader, device)


def control(device):
    rows = start()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        loader = DataLoader(rows, batch_size=10, shuffle=True)
        return check(rows, loader, device)


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
