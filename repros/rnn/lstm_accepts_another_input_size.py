# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "An LSTM accepts fewer features than input_size and misreads its weights"
# kind = "silent"
# symptom = "12 features were accepted, with weights in rows of 12"
# origin = "torch"
# reports = ["https://github.com/pytorch/pytorch/issues/114874"]
# documents = ["https://github.com/pytorch/pytorch/pull/115542"]
# fixed_by = "pytorch#115542"
# wrong = '''
# lstm = torch.nn.LSTM(input_size=13, hidden_size=4)
# output, _ = lstm(x)  # x has 12 features
# '''
# right = '''
# lstm = torch.nn.LSTM(input_size=x.shape[-1], hidden_size=4)
# output, _ = lstm(x)
# '''
# fix = "upgrade"
# affected = { cpu = ">=2.1,<2.3" }
# ///
"""The output has the expected shape, and the backward pass works, but the weights are misaligned.

forward() checked the input only if an initial state was passed, and the kernel did not check it
(pytorch#114874). In float32 and bfloat16, without proj_size, the kernel read the weights, which are
stored in rows of 13, as rows of 12. In float64 and float16, the matrix product failed. Other
releases raise a RuntimeError that names both sizes, except for packed sequences: see
rnn/packed_lstm_accepts_another_input_size. Either size may be wrong: if a column is missing from
the data, a smaller LSTM hides this mistake.
"""

import torch


def check(lstm, x, output, weights):
    """Compares the output with LSTMCell, whose input weights are `weights`."""
    cell = torch.nn.LSTMCell(x.shape[-1], 4)
    cell.weight_ih.data, cell.weight_hh.data = weights, lstm.weight_hh_l0.data
    cell.bias_ih.data, cell.bias_hh.data = lstm.bias_ih_l0.data, lstm.bias_hh_l0.data
    state = (torch.zeros(2, 4), torch.zeros(2, 4))
    for row, step in zip(x, output):
        state = cell(row, state)
        if not torch.allclose(state[0], step, atol=1e-5):
            return False
    return True


def reproduce(device):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        x = torch.randn(3, 2, 12)
        try:
            lstm = torch.nn.LSTM(input_size=13, hidden_size=4)
            output, _ = lstm(x)  # x has 12 features
        except RuntimeError:  # input.size(-1) must be equal to input_size. Expected 13, got 12
            return None
        short_rows = lstm.weight_ih_l0.detach().flatten()[: 16 * 12].reshape(16, 12)
        if lstm.weight_ih_l0.shape == short_rows.shape:
            return None
        if check(lstm, x, output, short_rows):
            return "12 features were accepted, with weights in rows of 12"
        return "12 features were accepted"


def control(device):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        x = torch.randn(3, 2, 12)
        lstm = torch.nn.LSTM(input_size=x.shape[-1], hidden_size=4)
        output, _ = lstm(x)
        if not check(lstm, x, output, lstm.weight_ih_l0.detach()):
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
