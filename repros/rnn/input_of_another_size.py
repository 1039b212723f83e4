# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "An LSTM built for a fixed number of features raises if the data has more or fewer"
# kind = "error"
# symptom = "must be equal to input_size. Expected 2, got 3"
# messages = [
#     'input\.size\(-1\) must be equal to input_size\. Expected \d{1,9}, got \d{1,9}',
#     'input has inconsistent input_size: got \d{1,9},? expected \d{1,9}',
# ]
# origin = "usage"
# reports = [
#     "https://github.com/uoe-agents/LIAM/issues/3",
#     "https://github.com/ljynlp/W2NER/issues/23",
#     "https://github.com/zalandoresearch/pytorch-ts/issues/107",
# ]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.LSTM.html",
#     "https://github.com/zalandoresearch/pytorch-ts/issues/109",
# ]
# wrong = '''
# lstm = LSTM(2, 4, batch_first=True)
# output, _ = lstm(features)
# '''
# right = '''
# lstm = LSTM(features.shape[-1], 4, batch_first=True)
# output, _ = lstm(features)
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The expected number is the first argument of the LSTM, and the number behind "got" is the last
dimension of its input (torch/nn/modules/rnn.py).

The number was written for other data: word vectors of another width (ljynlp/W2NER#23), an
environment with more observations (uoe-agents/LIAM#3), or series to which a library adds features
of its own (zalandoresearch/pytorch-ts#109). The batch size and the number of steps do not matter.
For features of an Embedding, use its embedding_dim.

If "got" is the number of steps, the LSTM is not at fault. Either x has no dimension for the
features, and needs x.unsqueeze(-1), or the features come before the steps, as in the output of a
Conv1d, and x needs transpose(1, 2). Changing input_size to "got" then also removes the error, but
the LSTM reads one step of many features. An LSTM from a checkpoint cannot be changed: its weights
fit only the features that it was trained on.
"""

import torch
from torch.nn import LSTM


def start(device):
    return torch.arange(30.0, device=device).view(2, 5, 3) / 30


def reproduce(device):
    features = start(device)
    lstm = LSTM(2, 4, batch_first=True)
    try:
        output, _ = lstm.to(device)(features)
    except RuntimeError as error:
        return str(error)
    return f"the output has the shape {list(output.shape)}"


def control(device):
    features = start("cpu")
    lstm = LSTM(features.shape[-1], 4, batch_first=True)
    output, _ = lstm(features)
    cell = torch.nn.LSTMCell(3, 4)
    cell.load_state_dict({name[:-3]: value for name, value in lstm.state_dict().items()})
    state = None
    for step in range(5):
        state = cell.to(device)(features[:, step].to(device), state)
        if not torch.allclose(output[:, step], state[0].cpu(), atol=1e-3):
            return f"step {step} differs from that of a cell"


def messages(device):
    try:
        torch.nn.LSTMCell(2, 4).to(device)(torch.ones(5, 3, device=device))
    except RuntimeError as error:
        return str(error)


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control, messages):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
