# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "pack_padded_sequence() rejects lengths on a GPU"
# kind = "error"
# symptom = "lengths. argument should be a 1D CPU int64 tensor"
# messages = ["lengths. argument should be a 1D CPU int64 tensor, but got 1D (?!cpu)\\w{3,4}"]
# origin = "design"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/43227",
#     "https://github.com/bentrevett/pytorch-seq2seq/issues/156",
#     "https://github.com/YiwuZhong/Sub-GC/issues/15",
#     "https://github.com/ruotianluo/self-critical.pytorch/issues/239",
# ]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.rnn.pack_padded_sequence.html",
#     "https://github.com/pytorch/pytorch/issues/103964",
# ]
# wrong = '''
# packed = pack_padded_sequence(x, lengths)  # lengths moved to the GPU with the batch
# '''
# right = '''
# packed = pack_padded_sequence(x, lengths.cpu())
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# stand_in = { cpu = "a meta tensor stands in for lengths on a GPU" }
# ///
"""The model works on the CPU, but fails on a GPU if the whole batch was moved there.

The host reads the lengths to lay out the packed batch, so they have to be on the CPU (docs:
pack_padded_sequence, pytorch#43227). Calling cpu() waits for the GPU: to avoid the wait, never move
the lengths there. Lengths of shape (n, 1) cause the same error with "but got 2D", even on the CPU,
so call flatten(). Before 2.1, if the default device is a GPU, a list is rejected as well
(pytorch#103964), and a list has no cpu().
"""

import torch
from torch.nn.utils.rnn import pack_padded_sequence


def reproduce(device):
    x = torch.ones(2, 2, 1, device=device)
    lengths = torch.tensor([2, 1], device="meta" if device == "cpu" else device)
    try:
        pack_padded_sequence(x, lengths)
    except RuntimeError as error:
        return str(error)


def control(device):
    x = torch.ones(2, 2, 1, device=device)
    lengths = torch.tensor([2, 1], device=device)
    packed = pack_padded_sequence(x, lengths.cpu())
    if packed.batch_sizes.tolist() != [2, 1]:
        return f"the batch sizes are {packed.batch_sizes.tolist()}"


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
