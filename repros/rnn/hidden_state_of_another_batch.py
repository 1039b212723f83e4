# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "An initial hidden state built for a hard-coded batch size does not fit the smaller last batch"
# kind = "error"
# symptom = "Expected hidden.{0,3} size \\(1, 3, 2\\), got \\[1, 4, 2\\]"
# messages = [
#     "Expected hidden(?:\\[\\d\\])? size \\((\\d{1,3}), \\d{1,6}, (\\d{1,5})\\), got [\\[(]\\1, \\d{1,6}, \\2[\\])]",
#     "Input batch size \\d{1,9} doesn.t match hidden(?:\\[?\\d\\]?)? batch size \\d{1,9}",
# ]
# origin = "usage"
# reports = [
#     "https://github.com/MUST-Deep-Learning/KnowIt/issues/252",
#     "https://github.com/vietnh1009/Hierarchical-attention-networks-pytorch/issues/12",
# ]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.GRU.html",
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.LSTM.html",
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.GRUCell.html",
#     "https://github.com/udacity/deep-learning-v2-pytorch/pull/398",
# ]
# wrong = '''
# hidden = torch.zeros(1, batch_size, 2)
# output, _ = gru(x, hidden)
# '''
# right = '''
# hidden = torch.zeros(1, len(x), 2, device=x.device, dtype=x.dtype)
# output, _ = gru(x, hidden)
# '''
# rule = "warning"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""Training fails on the last batch of the epoch, or prediction fails on a single sample.

The second dimension of the hidden state must be the current batch size (docs: torch.nn.GRU), and
the last batch is smaller. With drop_last=True, as suggested in
udacity/deep-learning-v2-pytorch#398, the model still cannot predict a single sample. If no state is
passed, torch creates zeros of the right size (docs: torch.nn.GRU). This also works for a
PackedSequence, for which len() does not return the batch size. Here the batch is the first
dimension of x; otherwise the batch size is x.shape[1].

The corrected code is for a GRU or RNN with one layer and one direction. An LSTM takes a pair of
such states (docs: torch.nn.LSTM), and a cell's states have two dimensions (docs: torch.nn.GRUCell).
"""

import torch
from torch.utils.data import DataLoader


def of_batch_size(gru, x, batch_size):
    hidden = torch.zeros(1, batch_size, 2, device=x.device)
    output, _ = gru(x, hidden)
    return output


def of_this_batch(gru, x, batch_size):
    hidden = torch.zeros(1, len(x), 2, device=x.device, dtype=x.dtype)
    output, _ = gru(x, hidden)
    return output


def train_and_predict(device, run, **options):
    gru = torch.nn.GRU(1, 2, batch_first=True).to(device)
    dataset, batch_size = torch.ones(7, 5, 1), 4
    batches = [*DataLoader(dataset, batch_size, **options), dataset[:1]]
    try:
        for x in batches:
            output = run(gru, x.to(device), batch_size)
            if not torch.allclose(output, gru(x.to(device))[0], atol=1e-5):
                return "the output differs from that without a state"
    except RuntimeError as error:
        return str(error)


def reproduce(device):
    return train_and_predict(device, of_batch_size)


def control(device):
    return train_and_predict(device, of_this_batch)


def messages(device):
    texts = []
    for layer in (torch.nn.GRU(1, 2), torch.nn.GRUCell(1, 2)):
        dimensions = [1] * isinstance(layer, torch.nn.GRU)
        try:
            layer.to(device)(
                torch.ones(*dimensions, 3, 1, device=device),
                torch.zeros(*dimensions, 4, 2, device=device),
            )
        except RuntimeError as error:
            texts.append(str(error))
    return "\n".join(texts)


def popular_fix(device):
    return train_and_predict(device, of_batch_size, drop_last=True)


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control, messages, popular_fix):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
