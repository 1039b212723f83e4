# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "An initial hidden state made for a fixed batch size raises in the smaller last batch"
# kind = "error"
# symptom = "Expected hidden.{0,3} size \\(1, 3, 2\\), got \\[1, 4, 2\\]"
# messages = [
#     "Expected hidden(?:\\[\\d\\])? size \\(.{1,40}?\\), got",
#     "Input batch size \\d{1,9} doesn.t match hidden(?:\\[?\\d\\]?)? batch size \\d{1,9}",
# ]
# keywords = [
#     "LSTM crashes in the last batch",
#     "init_hidden(batch_size)",
#     "hidden state batch size mismatch",
#     "fails when predicting one sample",
#     "stateful LSTM",
#     "LSTM works in training and fails on the final batch",
#     "cannot predict one sequence with my trained LSTM",
#     "initial hidden state depends on the batch size",
#     "recurrent model fails at test time with another batch size",
# ]
# origin = "usage"
# reports = [
#     "https://github.com/MUST-Deep-Learning/KnowIt/issues/252",
#     "https://github.com/vietnh1009/Hierarchical-attention-networks-pytorch/issues/12",
# ]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.GRU.html",
#     "https://github.com/udacity/deep-learning-v2-pytorch/pull/398",
# ]
# wrong = '''
# hidden = torch.zeros(1, batch_size, 2)
# output, _ = gru(x, hidden)
# '''
# right = '''
# hidden = torch.zeros(1, len(x), 2)
# output, _ = gru(x, hidden)
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""Training raises in the last batch of the epoch, or where a single sample is predicted.

The second dimension of the hidden state is the size of the batch that comes in (docs:
torch.nn.GRU), and the last batch is smaller. drop_last=True, proposed in
udacity/deep-learning-v2-pytorch#398, leaves the model unable to predict one sample.
Without a state torch makes zeros of the right size (docs: torch.nn.GRU).
"""

import torch
from torch.utils.data import DataLoader


def train_and_predict(device, size_of, **options):
    gru = torch.nn.GRU(1, 2, batch_first=True).to(device)
    dataset, batch_size = torch.ones(7, 5, 1), 4
    batches = [*DataLoader(dataset, batch_size, **options), dataset[:1]]
    try:
        for x in batches:
            hidden = torch.zeros(1, size_of(x, batch_size), 2, device=device)
            gru(x.to(device), hidden)
    except RuntimeError as error:
        return str(error)


def reproduce(device):
    return train_and_predict(device, lambda x, batch_size: batch_size)


def control(device):
    return train_and_predict(device, lambda x, batch_size: len(x))


def popular_fix(device):
    return train_and_predict(device, lambda x, batch_size: batch_size, drop_last=True)


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
