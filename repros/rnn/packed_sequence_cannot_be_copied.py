# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "PackedSequence.to(..., copy=True) raises TypeError"
# kind = "error"
# symptom = "does not accept copy argument"
# messages = ["\\.to\\(\\) does not accept copy argument"]
# origin = "torch"
# documents = [
#     "https://github.com/pytorch/pytorch/blob/v2.10.0/torch/nn/utils/rnn.py",
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/nn/utils/rnn.py",
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.rnn.PackedSequence.html",
# ]
# upstream = "unreported"
# wrong = '''
# copy = packed.to(device, copy=True)
# '''
# right = '''
# copy = packed._replace(data=packed.data.clone()).to(device)
# '''
# affected = { cpu = ">=2.11", cuda = ">=2.11", mps = ">=2.11" }
# ///
"""Since torch 2.11, PackedSequence.to() rejects an argument that its signature allows.

Up to 2.10, the docstring told users to pass copy as a keyword (torch/nn/utils/rnn.py). The method
passes its arguments to Tensor.to(), which copies the data. Since 2.11, the method also passes the
arguments to the parser of Module.to(), in order to convert the index tensors. This parser does not
accept copy (torch/nn/utils/rnn.py).
"""

import torch
from torch.nn.utils.rnn import pack_sequence, pad_packed_sequence


def reproduce(device):
    packed = pack_sequence([torch.ones(2, device=device)])
    try:
        packed.to(device, copy=True)
    except RuntimeError as error:
        return str(error)


def control(device):
    sequences = [torch.tensor([1.0], device=device), torch.tensor([2.0, 3.0], device=device)]
    packed = pack_sequence(sequences, enforce_sorted=False)
    copy = packed._replace(data=packed.data.clone()).to(device)
    packed.data.zero_()
    if pad_packed_sequence(copy)[0].tolist() != [[1, 2], [0, 3]]:
        return f"the copy is {copy}"


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
