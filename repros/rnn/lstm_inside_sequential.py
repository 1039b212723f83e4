# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "An LSTM inside a Sequential hands a tuple to the next layer, which raises TypeError"
# kind = "error"
# symptom = "must be Tensor, not tuple"
# messages = [
#     'argument .input. \(position 1\) must be Tensor, not tuple',
#     "'tuple' object has no attribute 'dim'",
# ]
# elsewhere = [
#     "argument .(?:input|indices). \\(position \\d\\) must be Tensor, not tuple",
#     'conv\dd\(\) received an invalid combination of arguments - got \(tuple, ',
# ]
# origin = "design"
# reports = ["https://github.com/pytorch/pytorch/issues/3349"]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.LSTM.html",
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.Sequential.html",
#     "https://github.com/doc-ycm/EEG-ATCNet-pytorch/issues/2",
# ]
# wrong = '''
# model = torch.nn.Sequential(LSTM(3, 4, batch_first=True), Linear(4, 2))
# '''
# right = '''
# class Steps(torch.nn.Module):
#     def forward(self, outputs):
#         return outputs[0]  # of all steps; outputs[0][:, -1] is the last step of each sequence
#
#
# model = torch.nn.Sequential(LSTM(3, 4, batch_first=True), Steps(), Linear(4, 2))
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The error is raised by the layer after the recurrent layer.

An LSTM returns (output, (h_n, c_n)), and a GRU or RNN returns (output, h_n) (docs: torch.nn.LSTM).
Sequential passes this tuple on (torch/nn/modules/container.py), but Linear, Dropout and ReLU accept
only a tensor. A second LSTM or a BatchNorm1d fails with "'tuple' object has no attribute 'dim'". To
stack LSTMs of the same hidden size without other layers between them, pass num_layers instead.

Without batch_first=True, the last step is outputs[0][-1], because [:, -1] would be the last
sequence of the batch. With padded sequences, the last step of shorter sequences is padding, and in
a bidirectional layer the backward direction has then read only one step. Outside a Sequential,
write output, state = lstm(x). MultiheadAttention also returns a tuple
(doc-ycm/EEG-ATCNet-pytorch#2), but inside a Sequential it already fails because its key and value
are missing.
"""

import torch
from torch.nn import LSTM, Linear


def reproduce(device):
    model = torch.nn.Sequential(LSTM(3, 4, batch_first=True), Linear(4, 2))
    try:
        model.to(device)(torch.ones(2, 5, 3, device=device))
    except TypeError as error:
        return str(error)


def control(device):
    class Steps(torch.nn.Module):
        def forward(self, outputs):
            return outputs[0]  # of all steps; outputs[0][:, -1] is the last step of each sequence

    model = torch.nn.Sequential(LSTM(3, 4, batch_first=True), Steps(), Linear(4, 2))
    x = torch.ones(2, 5, 3, device=device)
    output, state = model.to(device)(x), None
    for step in range(5):
        hidden, state = model[0](x[:, step : step + 1], state)
        if not torch.allclose(output[:, step], model[2](hidden[:, 0]), atol=1e-5):
            return f"step {step} differs from that of the LSTM"


def messages(device):
    try:
        torch.nn.Sequential(LSTM(3, 3), LSTM(3, 3)).to(device)(torch.ones(5, 2, 3, device=device))
    except AttributeError as error:
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
