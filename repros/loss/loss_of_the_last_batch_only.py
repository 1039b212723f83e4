# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A validation loss that is read after the loop over the batches is the loss of the last batch"
# kind = "silent"
# symptom = "the validation loss is 9\\.0, not 2\\.6"
# origin = "usage"
# reports = [
#     "https://github.com/NVIDIA/tacotron2/issues/266",
#     "https://github.com/numaproj/numalogic/issues/53",
# ]
# documents = ["https://github.com/NVIDIA/DeepLearningExamples/pull/299"]
# wrong = '''
# for x, y in loader:
#     loss = criterion(model(x), y)
# validation_loss = loss.item()
# '''
# right = '''
# total, rows = 0.0, 0
# for x, y in loader:
#     loss = criterion(model(x), y)
#     total += loss.item() * len(y)
#     rows += len(y)
# validation_loss = total / rows
# '''
# rule = "warning"
# when = "there is more than one batch"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The validation loss jumps from epoch to epoch, and the best epoch is a matter of chance.

After a loop, Python keeps the values of its last pass, so all batches but the last are computed for
nothing (NVIDIA/tacotron2#266). The same applies to an accuracy and to the loss of an epoch of
training (numaproj/numalogic#53). The last batch is often the smallest, and if the loader does not
shuffle, it always holds the same few rows. Sum the losses in the loop. len(y) must be the number of
rows: use len(x) if y is a dict, and y.size(1) if time is the first dimension of y. If the loss is
not a mean over rows, for example with class weights or ignored labels, weight each batch by the
number over which its mean is taken (see loss/mean_of_batch_means). Losses with reduction="sum"
already contain this factor, so only add them.
"""

import torch


def start(device):
    y = torch.tensor([1.0, 1.0, 1.0, 1.0, 3.0], device=device)
    data = torch.utils.data.TensorDataset(torch.zeros(5, device=device), y)
    loader = torch.utils.data.DataLoader(data, batch_size=4)
    return loader, torch.nn.Identity(), torch.nn.MSELoss()


def check(validation_loss):
    expected = (4 * 1.0**2 + 3.0**2) / 5
    if abs(validation_loss - expected) > 1e-5:
        return f"the validation loss is {validation_loss:.1f}, not {expected}"


def reproduce(device):
    loader, model, criterion = start(device)
    for x, y in loader:
        loss = criterion(model(x), y)
    validation_loss = loss.item()
    return check(validation_loss)


def control(device):
    loader, model, criterion = start(device)
    total, rows = 0.0, 0
    for x, y in loader:
        loss = criterion(model(x), y)
        total += loss.item() * len(y)
        rows += len(y)
    validation_loss = total / rows
    return check(validation_loss)


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
