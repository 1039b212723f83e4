"""Batches of packed sequences of one length, against a loop over LSTMCell."""

import torch
from torch.nn.utils.rnn import pack_sequence, unpack_sequence  # noqa: F401

SETTINGS = ("plain", "short last batch")


def place(t):
    seen = []
    for rows, _ in t.batches:
        sequences = list(torch.cat([rows, rows], 1)[:, None].repeat(1, 3, 1))
        torch.manual_seed(7)
        paste
        seen.append(torch.stack(unpack_sequence(output)))
    return seen


def reference(t):
    seen = []
    for rows, _ in t.batches:
        x = torch.cat([rows, rows], 1)
        torch.manual_seed(7)
        cell = torch.nn.LSTMCell(12, 4)
        state, outputs = None, []
        for _ in range(3):
            state = cell(x, state)
            outputs.append(state[0])
        seen.append(torch.stack(outputs, 1))
    return seen
