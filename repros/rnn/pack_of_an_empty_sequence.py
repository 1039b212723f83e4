# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "pack_padded_sequence() fails if one sequence of the batch is empty"
# kind = "error"
# symptom = "Length of all samples has to be greater than 0"
# messages = ["length of all samples has to be greater than 0, but found an element in"]
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
# _, state = gru(packed)
# '''
# right = '''
# lengths = torch.as_tensor(lengths)
# packed = pack_padded_sequence(x, lengths.clamp(min=1), enforce_sorted=False)
# _, state = gru(packed)
# state = state.masked_fill((lengths == 0).unsqueeze(1).to(state.device), 0)
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""Training stops at the first batch with an empty sequence, possibly after hours.

A packed batch holds at least the first step of every sequence, so lengths of zero are rejected
(aten/src/ATen/native/PackedSequence.cpp). With only clamp(min=1), as in
ASUS-AICS/LibMultiLabel-Old-Archive#164, the GRU reads the padding as a step. In pytorch#4582, the
output of an empty row is masked too. The corrected lines mask the state, and also work with
batch_first. If the GRU gets an initial state h0, an empty row should keep its h0: use
torch.where(mask, h0, state). For an LSTM, mask both states. If you use the output, mask the single
step of an empty row. The padding must be finite, because NaN in it reaches the weights' gradients.
If all sequences are empty, the padded batch has no steps, and the error "Cannot pack empty tensors"
remains. A negative length causes the same message, "<= 0"
(aten/src/ATen/native/PackedSequence.cpp): correct this length, because the corrected lines would
treat it as 1.
"""

import torch
from torch.nn.utils.rnn import pack_padded_sequence


def as_they_are(gru, x, lengths):
    packed = pack_padded_sequence(x, lengths, enforce_sorted=False)
    _, state = gru(packed)
    return state


def clamped(gru, x, lengths):
    packed = pack_padded_sequence(x, lengths.clamp(min=1), enforce_sorted=False)
    _, state = gru(packed)
    return state


def masked(gru, x, lengths):
    lengths = torch.as_tensor(lengths)
    packed = pack_padded_sequence(x, lengths.clamp(min=1), enforce_sorted=False)
    _, state = gru(packed)
    state = state.masked_fill((lengths == 0).unsqueeze(1).to(state.device), 0)
    return state


def check(device, encode):
    gru, x = torch.nn.GRU(1, 2).to(device), torch.ones(4, 3, 1, device=device)
    lengths = torch.tensor([2, 0, 4])
    alone = [gru(x[:2, :1])[1], torch.zeros(1, 1, 2, device=device), gru(x[:4, :1])[1]]
    alone = torch.cat(alone, 1)
    (expected,) = torch.autograd.grad(alone.sum(), gru.weight_hh_l0)
    try:
        state = encode(gru, x, lengths)
    except RuntimeError as error:
        return str(error)
    if state[0, 1].any():
        return "the empty sequence has a state that was made of padding"
    (gradient,) = torch.autograd.grad(state.sum(), gru.weight_hh_l0)
    if not torch.allclose(state, alone, atol=1e-5):
        return "the states differ from those of the sequences alone"
    if not torch.allclose(gradient, expected, atol=1e-5):
        return "the gradient differs from that of the sequences alone"


def reproduce(device):
    return check(device, as_they_are)


def control(device):
    return check(device, masked)


def popular_fix(device):
    return check(device, clamped)


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
