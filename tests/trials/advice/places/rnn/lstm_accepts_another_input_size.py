"""The output of an LSTM built for the data, against a loop over LSTMCell."""

import torch

SETTINGS = ("plain", "short last batch")


def place(t):
    seen = []
    for rows, _ in t.batches:
        x = torch.cat([rows, rows], 1)[None].repeat(3, 1, 1)
        torch.manual_seed(7)
        paste
        seen.append(output)
    return seen


def reference(t):
    seen = []
    for rows, _ in t.batches:
        x = torch.cat([rows, rows], 1)[None].repeat(3, 1, 1)
        torch.manual_seed(7)
        cell = torch.nn.LSTMCell(12, 4)
        state, outputs = None, []
        for step in x:
            state = cell(step, state)
            outputs.append(state[0])
        seen.append(torch.stack(outputs))
    return seen
