"""An encoder whose lengths are not on the CPU; a meta tensor stands for the device."""

import torch
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence  # noqa: F401  (lines)

SETTINGS = ("plain", "bfloat16", "short last batch")
TOLERANCE = 1e-2


class OnDevice(torch.Tensor):
    """Lengths that can be read after cpu() alone."""

    def cpu(self):
        return self.values


def train(t, encode):
    t.model = t.watched(torch.nn.GRU(2, 4))
    t.groups = [{"params": [p], "lr": 0.1} for p in t.model.parameters()]
    for x, y in t.batches:
        x = x.view(-1, 3, 2).transpose(0, 1).contiguous()
        t.optimizer.zero_grad()
        with t.autocast():
            state = encode(t.model, x, torch.tensor([3, 3, 2, 1][: len(y)]))
        t.loss(state[0].float(), y).backward()
        t.optimizer.step()
    return t.model.state_dict()


def place(t):
    def encode(gru, x, values):
        lengths = torch.empty_like(values, device="meta").as_subclass(OnDevice)
        lengths.values = values
        paste
        return gru(packed)[1]

    return train(t, encode)


def reference(t):
    def encode(gru, x, values):
        rows = zip(x.split(1, dim=1), values.tolist())
        return torch.cat([gru(row[:n])[1] for row, n in rows], dim=1)

    return train(t, encode)
