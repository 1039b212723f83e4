# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "An LSTM without batch_first treats the batch as time, so samples flow into each other"
# kind = "silent"
# symptom = "the output of a sample depends on the one before it"
# origin = "usage"
# reports = [
#     "https://github.com/AndersonJo/dqn-pytorch/issues/1",
#     "https://github.com/KaiyangZhou/pytorch-vsumm-reinforce/issues/10",
#     "https://github.com/Cadene/vqa.pytorch/issues/40",
#     "https://github.com/pytorch/pytorch/issues/1538",
# ]
# documents = ["https://docs.pytorch.org/docs/stable/generated/torch.nn.LSTM.html"]
# wrong = '''
# lstm = LSTM(2, 4).to(x.device)  # x: [batch, time, features]
# output, _ = lstm(x)
# '''
# right = '''
# lstm = LSTM(2, 4, batch_first=True).to(x.device)
# output, _ = lstm(x)
# '''
# rule = "warning"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The shapes fit and the loss decreases (AndersonJo/dqn-pytorch#1), but no information passes
between the time steps.

By default, the first dimension is time and the second is the batch (docs: torch.nn.LSTM). Without
batch_first, the LSTM therefore runs over the samples, once for each time step. Weights that were
trained in this way load without an error, but have to be trained again. The batch is always the
second dimension of the states, h and c, even with batch_first. The functions pack_padded_sequence()
and pad_packed_sequence() have their own batch_first. In a bidirectional LSTM, output[:, -1] holds
the first step of the backward direction. For a padded sample, output[:, -1] already includes the
padding. Use h instead: h[-2] and h[-1] with two directions, and the h of a packed sequence with
padding.
"""

import torch
from torch.nn import LSTM


def time_first(x):
    lstm = LSTM(2, 4).to(x.device)  # x: [batch, time, features]
    output, _ = lstm(x)
    return lstm, output


def batch_first(x):
    lstm = LSTM(2, 4, batch_first=True).to(x.device)
    output, _ = lstm(x)
    return lstm, output


def check(device, run):
    x = torch.arange(30.0, device=device).view(3, 5, 2) / 30
    lstm, output = run(x)
    lstm.batch_first = False
    alone = torch.stack([lstm(sample[:, None])[0][:, 0] for sample in x])
    if not torch.allclose(output, alone, atol=1e-6):
        return "the output of a sample depends on the one before it"


def reproduce(device):
    return check(device, time_first)


def control(device):
    return check(device, batch_first)


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
