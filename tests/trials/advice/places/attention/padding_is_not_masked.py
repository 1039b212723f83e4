"""An encoder trained on batches of unequal sequences, against one sequence at a time; then in eval
mode.
"""

import torch
from torch.nn.utils.rnn import pad_sequence  # noqa: F401

SETTINGS = ("plain", "short last batch")


def start(t):
    with torch.random.fork_rng():
        torch.manual_seed(0)
        layer = torch.nn.TransformerEncoderLayer(6, 2, 8, dropout=0.0, batch_first=True)
        encoder = t.model = t.watched(torch.nn.TransformerEncoder(layer, 2))
    return encoder, torch.optim.SGD(encoder.parameters(), lr=0.01, momentum=0.9)


def run(t, encode):
    encoder, optimizer = start(t)
    for x, _ in t.batches:
        sequences = [x[: n + 1] for n in range(len(x))]
        optimizer.zero_grad()
        outputs = encode(encoder, sequences)
        sum(output.pow(3).mean() for output in outputs).backward()
        optimizer.step()
    encoder.eval()
    with torch.no_grad():
        predicted = [output.clone() for output in encode(encoder, sequences)]
    encoder.train()
    return [encoder.state_dict(), predicted]


def place(t):
    def encode(encoder, sequences):
        paste
        return [row[: len(sequence)] for row, sequence in zip(output, sequences)]

    return run(t, encode)


def reference(t):
    return run(t, lambda encoder, sequences: [encoder(s[None])[0] for s in sequences])
