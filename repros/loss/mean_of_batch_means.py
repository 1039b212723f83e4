# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "The mean of the batch means gives the rows of a short last batch too much weight"
# kind = "silent"
# symptom = "the mean is 5.0, not 2.6"
# origin = "usage"
# reports = ["https://github.com/catalyst-team/catalyst/issues/799"]
# documents = ["https://github.com/udacity/deep-learning-v2-pytorch/pull/74"]
# wrong = '''
# total = 0.0
# for x, y in loader:
#     total += criterion(model(x), y).item()
# mean = total / len(loader)
# '''
# right = '''
# total, rows = 0.0, 0
# for x, y in loader:
#     total += criterion(model(x), y).item() * len(y)
#     rows += len(y)
# mean = total / rows
# '''
# rule = "note"
# when = "the last batch is smaller than the others"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""A model's validation loss depends on the batch size.

The last batch of a DataLoader contains the remaining rows, but its mean counts as much as the other
means (catalyst-team/catalyst#799). The same applies to accuracy and other metrics that are means
over rows. Without a short batch, both results agree. If CrossEntropyLoss or NLLLoss has class
weights or ignores labels, its mean is not over rows. In this case, replace both len(y) with the sum
of the weights of y, or with the number of labels that count. If no label of a batch counts, skip
the batch, because its mean is nan. With reduction="sum", do not multiply. A metric such as F1 or
AUC is not a mean over rows, so compute it once from all predictions.
"""

import torch


def start(device):
    y = torch.tensor([1.0, 1.0, 1.0, 1.0, 3.0], device=device)
    data = torch.utils.data.TensorDataset(torch.zeros(5, device=device), y)
    loader = torch.utils.data.DataLoader(data, batch_size=4)
    return loader, torch.nn.Identity(), torch.nn.MSELoss()


def check(mean):
    expected = (4 * 1.0**2 + 3.0**2) / 5
    if abs(mean - expected) > 1e-5:
        return f"the mean is {mean:.1f}, not {expected}"


def reproduce(device):
    loader, model, criterion = start(device)
    total = 0.0
    for x, y in loader:
        total += criterion(model(x), y).item()
    mean = total / len(loader)
    return check(mean)


def control(device):
    loader, model, criterion = start(device)
    total, rows = 0.0, 0
    for x, y in loader:
        total += criterion(model(x), y).item() * len(y)
        rows += len(y)
    mean = total / rows
    return check(mean)


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
