# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "pack_padded_sequence() rejects unsorted lengths, and sorting only the lengths assigns them to the wrong sequences"
# kind = "error"
# symptom = "array must be sorted in decreasing order when"
# messages = ["lengths. array must be sorted in decreasing order when .enforce_sorted. is True"]
# elsewhere = ["lengths array has to be sorted in decreasing order"]
# origin = "design"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/8026",
#     "https://github.com/yeyupiaoling/MASR/issues/64",
# ]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.rnn.pack_padded_sequence.html",
#     "https://github.com/pytorch/pytorch/issues/23079",
# ]
# wrong = '''
# packed = pack_padded_sequence(x, lengths)  # x: (time, batch, features)
# '''
# right = '''
# packed = pack_padded_sequence(x, lengths, enforce_sorted=False)  # x: (time, batch, features)
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""Packing a batch works only if its sequences happen to be in order of decreasing length.

By default, enforce_sorted is True to support export to ONNX. With False, the function sorts the
batch itself (docs: pack_padded_sequence). If you sort the lengths, as advised in pytorch#8026, but
not the sequences in the same way, sequences get the lengths of other sequences. Without your own
sort(), the outputs and states stay in the order of the labels. To change packed.data, write
packed._replace(data=...). PackedSequence(data, batch_sizes) would drop the original order
(torch/nn/utils/rnn.py) and silently leave the samples sorted.

A batch of shape (batch, time, features) needs batch_first=True. Otherwise enforce_sorted=False
takes the first len(lengths) time steps as the samples. This raises an error only if there are fewer
time steps than samples, or if a length is greater than len(lengths).
"""

import torch
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


def sorted_already(x, lengths):
    packed = pack_padded_sequence(x, lengths)
    return packed


def not_sorted(x, lengths):
    packed = pack_padded_sequence(x, lengths, enforce_sorted=False)
    return packed


def check(device, pack):
    x = torch.tensor([[1.0, 2.0], [0.0, 2.0]], device=device)  # lengths 1 and 2
    try:
        unpacked, lengths = pad_packed_sequence(pack(x, torch.tensor([1, 2])))
    except RuntimeError as error:
        return str(error)
    if lengths.tolist() != [1, 2] or not torch.equal(unpacked, x):
        return "each sequence has the length of the other"


def reproduce(device):
    return check(device, sorted_already)


def control(device):
    return check(device, not_sorted)


def popular_fix(device):
    return check(device, lambda x, n: sorted_already(x, n.sort(descending=True).values))


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
