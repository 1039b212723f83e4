# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "functional_call() on an LSTM ignores the weights passed to it"
# kind = "silent"
# symptom = "zero weights give an output that is not zero"
# origin = "torch"
# reports = ["https://github.com/pytorch/pytorch/issues/90500"]
# documents = [
#     "https://github.com/pytorch/pytorch/pull/91111",
#     "https://github.com/pytorch/pytorch/issues/65688",
# ]
# fixed_by = "pytorch#91111"
# wrong = '''
# functional_call(lstm, weights, (x,))
# '''
# fix = "upgrade"
# affected = { cpu = "<2.0", cuda = "<2.0", mps = "<2.0" }
# ///
"""The inner loop of meta-learning tries to replace the LSTM's weights, but the LSTM runs with the
old weights.

An LSTM's or GRU's forward() reads a list of weights that was built with the module, not the
parameters that functional_call() swaps in (pytorch#90500). Since the upstream fix, every forward()
checks the parameters (pytorch#91111). For the same reason, a parametrization of an LSTM's weights
had no effect (pytorch#65688).
"""

import torch

try:
    from torch.func import functional_call
except ImportError:  # before torch 2.0
    from torch.nn.utils.stateless import functional_call


def call(module, x):
    module.to(x.device)
    weights = {name: torch.zeros_like(value) for name, value in module.named_parameters()}
    outputs, _ = functional_call(module, weights, (x,))
    if outputs.count_nonzero():
        return "zero weights give an output that is not zero"


def reproduce(device):
    return call(torch.nn.LSTM(4, 5), torch.ones(3, 4, device=device))


def control(device):
    return call(torch.nn.LSTMCell(4, 5), torch.ones(3, 4, device=device))


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
