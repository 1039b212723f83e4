# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "An LSTM accepts packed sequences of equal length with fewer features than input_size"
# kind = "silent"
# symptom = "12 packed features were accepted, with weights in rows of 12"
# origin = "torch"
# upstream = "unreported"
# documents = [
#     "https://github.com/pytorch/pytorch/issues/195803",
#     "https://github.com/pytorch/pytorch/pull/185531",
#     "https://github.com/pytorch/pytorch/pull/195805",
# ]
# wrong = '''
# lstm = torch.nn.LSTM(input_size=13, hidden_size=4)
# output, _ = lstm(pack_sequence(sequences))  # of 12 features
# '''
# right = '''
# lstm = torch.nn.LSTM(input_size=sequences[0].shape[-1], hidden_size=4)
# output, _ = lstm(pack_sequence(sequences))
# '''
# affected = { cpu = ">=2.13" }
# ///
"""The output has the expected shape, and the backward pass works, but the weights are misaligned.

forward() does not check packed sequences (pytorch#195803). Since 2.13, packed sequences of equal
length are passed to oneDNN (pytorch#185531), which reads the weights, stored in rows of 13, as rows
of 12. With two lengths, a RuntimeError says that the matrices cannot be multiplied, so a batch of
equal lengths, or of one sequence, hides the mistake. This applies to float32 and bfloat16 without
proj_size. In other cases, for an unpacked input, and for a GRU, torch raises a RuntimeError too.
With more features than input_size, such as 14 or 20 for 13, the process crashes during forward() or
backward(). Either size may be wrong: if a column is missing from the data, a smaller LSTM hides
this mistake.
"""

import torch
from torch.nn.utils.rnn import pack_sequence


def check(lstm, sequences, output, weights):
    """Compares the output with LSTMCell, whose input weights are `weights`."""
    cell = torch.nn.LSTMCell(12, 4)
    cell.weight_ih.data, cell.weight_hh.data = weights, lstm.weight_hh_l0.data
    cell.bias_ih.data, cell.bias_hh.data = lstm.bias_ih_l0.data, lstm.bias_hh_l0.data
    state = (torch.zeros(2, 4), torch.zeros(2, 4))
    for row, step in zip(torch.stack(sequences, 1), output.data.reshape(3, 2, 4)):
        state = cell(row, state)
        if not torch.allclose(state[0], step, atol=1e-5):
            return False
    return True


def reproduce(device):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        sequences = [torch.randn(3, 12) for _ in range(2)]
        try:
            lstm = torch.nn.LSTM(input_size=13, hidden_size=4)
            output, _ = lstm(pack_sequence(sequences))  # of 12 features
        except RuntimeError:  # that names both sizes, or mat1 and mat2
            return None
        short_rows = lstm.weight_ih_l0.detach().flatten()[: 16 * 12].reshape(16, 12)
        if lstm.weight_ih_l0.shape == short_rows.shape:
            return None
        if check(lstm, sequences, output, short_rows):
            return "12 packed features were accepted, with weights in rows of 12"
        return "12 packed features were accepted"


def control(device):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        sequences = [torch.randn(3, 12) for _ in range(2)]
        lstm = torch.nn.LSTM(input_size=sequences[0].shape[-1], hidden_size=4)
        output, _ = lstm(pack_sequence(sequences))
        if not check(lstm, sequences, output, lstm.weight_ih_l0.detach()):
            return "the output differs from that of LSTMCell"


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
