# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "nn.RNN takes a positional nonlinearity for the bias flag, and forward() fails"
# kind = "error"
# symptom = "invalid combination of arguments"
# messages = ["rnn_tanh\\(\\) received an invalid combination of arguments - got \\(.{1,40}?list, str, int"]
# origin = "torch"
# reports = ["https://github.com/pytorch/pytorch/issues/114617"]
# documents = [
#     "https://github.com/pytorch/pytorch/pull/120234",
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.RNN.html",
# ]
# fixed_by = "pytorch#120234"
# wrong = '''
# rnn = torch.nn.RNN(2, 3, 1, "relu")
# output, _ = rnn(x)
# '''
# right = '''
# rnn = torch.nn.RNN(2, 3, 1, nonlinearity="relu")
# output, _ = rnn(x)
# '''
# rule = "error"
# when = "torch is older than 2.3"
# affected = { cpu = "<2.3", cuda = "<2.3", mps = "<2.3" }
# ///
"""An RNN's forward() fails with an error about argument types that the user never passed.

In the documented signature, the nonlinearity is the fourth argument (docs: torch.nn.RNN). However,
the constructor accepted the nonlinearity only as a keyword. It passed positional arguments on to
RNNBase, whose fourth argument is `bias` (pytorch#114617, pytorch#120234). The result was a tanh
layer with the bias flag "relu", which rnn_tanh() then rejected.
"""

import torch


def reproduce(device):
    rnn = torch.nn.RNN(2, 3, 1, "relu").to(device)
    try:
        rnn(torch.ones(4, 1, 2, device=device))
    except TypeError as error:
        return str(error)


def control(device):
    rnn = torch.nn.RNN(2, 3, 1, nonlinearity="relu").to(device)
    x = torch.ones(1, 1, 2, device=device)
    output, _ = rnn(x)
    step = torch.nn.functional.linear(x, rnn.weight_ih_l0, rnn.bias_ih_l0 + rnn.bias_hh_l0)
    if not torch.allclose(output, step.relu(), atol=1e-5):
        return "the layer is not one of relu"


def right(device):
    x = torch.ones(4, 1, 2)
    rnn = torch.nn.RNN(2, 3, 1, nonlinearity="relu")
    output, _ = rnn(x)
    if not rnn.bias or (output < 0).any():
        return "the layer has no bias, or is not one of relu"


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control, right):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
