# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "pack_padded_sequence() raises when one sequence of the batch is empty"
# kind = "error"
# symptom = "Length of all samples has to be greater than 0"
# messages = ["length of all samples has to be greater than 0, but found an element in"]
# keywords = [
#     "empty sentence in the batch",
#     "sequence length 0",
#     "text is empty after cleaning",
#     "lengths contains zero",
#     "empty text rows break my LSTM",
#     "some reviews are blank after preprocessing",
#     "zero-length sample crashes the recurrent model",
#     "training dies on a row without tokens",
# ]
# origin = "design"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/11514",
#     "https://github.com/pytorch/pytorch/issues/80605",
# ]
# documents = [
#     "https://github.com/pytorch/pytorch/issues/4582",
#     "https://github.com/ASUS-AICS/LibMultiLabel-Old-Archive/pull/164",
# ]
# wrong = '''
# packed = pack_padded_sequence(x, lengths, enforce_sorted=False)
# '''
# right = '''
# rows = lengths > 0
# packed = pack_padded_sequence(x[:, rows], lengths[rows], enforce_sorted=False)
# state[:, rows] = gru(packed)[1].detach()
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""Training stops at the first batch with an empty sequence, maybe after hours.

A packed batch holds at least the first step of every sequence, so lengths of zero are
refused (aten/src/ATen/native/PackedSequence.cpp). clamp(min=1) alone, as in
ASUS-AICS/LibMultiLabel-Old-Archive#164, lets the padding in as if it were a step; pytorch#4582
masks the output for such a row as well.
"""

import torch
from torch.nn.utils.rnn import pack_padded_sequence


def encode(device, lengths, rows):
    gru = torch.nn.GRU(1, 2).to(device)
    x = torch.ones(4, 3, 1, device=device)
    state = torch.zeros(1, 3, 2, device=device)
    try:
        packed = pack_padded_sequence(x[:, rows], lengths[rows], enforce_sorted=False)
    except RuntimeError as error:
        return str(error)
    state[:, rows] = gru(packed)[1].detach()
    if state[0, 1].any():
        return "the empty sequence has a state that was made of padding"


def reproduce(device):
    lengths = torch.tensor([2, 0, 4])
    return encode(device, lengths, slice(None))


def control(device):
    lengths = torch.tensor([2, 0, 4])
    return encode(device, lengths, lengths > 0)


def popular_fix(device):
    lengths = torch.tensor([2, 0, 4]).clamp(min=1)
    return encode(device, lengths, slice(None))


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
