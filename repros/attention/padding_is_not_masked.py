# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Without src_key_padding_mask, the output for a sequence changes with the padding of its batch"
# kind = "silent"
# symptom = "the output changes with the padding"
# origin = "usage"
# reports = [
#     "https://github.com/facebookresearch/CovidPrognosis/issues/16",
# ]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.TransformerEncoder.html",
#     "https://github.com/pytorch/pytorch/pull/22588",
# ]
# wrong = '''
# x = pad_sequence(sequences, batch_first=True)
# output = encoder(x)
# '''
# right = '''
# x = pad_sequence(sequences, batch_first=True)
# lengths = torch.tensor([len(sequence) for sequence in sequences], device=x.device)
# padding = torch.arange(x.shape[1], device=x.device) >= lengths[:, None]
# output = encoder(x, src_key_padding_mask=padding)
# '''
# rule = "note"
# when = "the sequences of a batch have different lengths"
# affected = { cpu = ">=1.13", cuda = ">=1.13" }
# ///
"""A sequence gets one output on its own, and a different one in a batch with a longer sequence.

Attention gives a weight to every position that no mask excludes. Padding with zeros is no
exception: after the biases and the softmax, a padded position has a weight and a value
(pytorch#22588). True in the mask means padding. The encoder needs batch_first=True here. The
outputs at the padding are still meaningless: exclude them from the loss, and from a mean over the
positions. A decoder also needs memory_key_padding_mask. Unless the decoder is causal and its
padding is at the end, it needs tgt_key_padding_mask too. A causal encoder with padding at the end
is not affected.
"""

import torch
from torch.nn.utils.rnn import pad_sequence


def start(device):
    with torch.random.fork_rng():
        torch.manual_seed(0)
        layer = torch.nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
        sequences = [torch.randn(length, 8).to(device) for length in (3, 5)]
    return torch.nn.TransformerEncoder(layer, 2).to(device), sequences


def check(encoder, sequences, output):
    for sequence, row in zip(sequences, output):
        alone = encoder(sequence[None])[0]
        if not torch.allclose(row[: len(sequence)], alone, atol=1e-4):
            return "the output changes with the padding"


def reproduce(device):
    encoder, sequences = start(device)
    x = pad_sequence(sequences, batch_first=True)
    output = encoder(x)
    return check(encoder, sequences, output)


def control(device):
    encoder, sequences = start(device)
    x = pad_sequence(sequences, batch_first=True)
    lengths = torch.tensor([len(sequence) for sequence in sequences], device=x.device)
    padding = torch.arange(x.shape[1], device=x.device) >= lengths[:, None]
    output = encoder(x, src_key_padding_mask=padding)
    return check(encoder, sequences, output)


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
