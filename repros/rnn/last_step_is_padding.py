# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "output[:, -1] of an LSTM is the state after the padding, except for the longest sample"
# kind = "silent"
# symptom = "the features of a sample change with its padding"
# origin = "usage"
# reports = [
#     "https://github.com/keitakurita/practical-torchtext/issues/5",
#     "https://github.com/ray-project/ray/issues/21392",
# ]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.rnn.pack_padded_sequence.html",
# ]
# wrong = '''
# x = torch.nn.utils.rnn.pad_sequence(sequences, batch_first=True)
# output, _ = lstm(x)
# features = output[:, -1]
# '''
# right = '''
# x = torch.nn.utils.rnn.pad_sequence(sequences, batch_first=True)
# output, _ = lstm(x)
# rows = torch.arange(len(x), device=x.device)
# last = torch.tensor([len(sequence) for sequence in sequences], device=x.device) - 1
# features = output[rows, last]
# '''
# rule = "note"
# when = "the sequences of a batch have different lengths"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The prediction for a short sample changes with the longest sample of its batch.

The LSTM does not know the lengths and continues through the padding, which changes its state even
if the padding is zero. The same holds for the final states h and c. The corrected code needs
padding at the end, no empty sequence, and one direction. With two directions, or to skip the
padding, use pack_padded_sequence() with enforce_sorted=False. Then h holds the states at the real
ends, in the order of the samples (docs: pack_padded_sequence). With padding at the start, output[:,
-1] is the right step, but the LSTM has read the padding first.
"""

import torch


def last_step(lstm, sequences):
    x = torch.nn.utils.rnn.pad_sequence(sequences, batch_first=True)
    output, _ = lstm(x)
    features = output[:, -1]
    return features


def last_real_step(lstm, sequences):
    x = torch.nn.utils.rnn.pad_sequence(sequences, batch_first=True)
    output, _ = lstm(x)
    rows = torch.arange(len(x), device=x.device)
    last = torch.tensor([len(sequence) for sequence in sequences], device=x.device) - 1
    features = output[rows, last]
    return features


def check(device, features_of):
    lstm = torch.nn.LSTM(2, 3, batch_first=True).to(device)
    sequences = [torch.arange(2.0 * n, device=device).view(n, 2) / n for n in (4, 2, 3)]
    alone = torch.cat([lstm(sequence[None])[0][:, -1] for sequence in sequences])
    if not torch.allclose(features_of(lstm, sequences), alone, atol=1e-6):
        return "the features of a sample change with its padding"


def reproduce(device):
    return check(device, last_step)


def control(device):
    return check(device, last_real_step)


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
