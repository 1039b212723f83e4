# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "An index computed with / is a float, and indexing with floats fails"
# kind = "error"
# symptom = "tensors used as indices must be long"
# messages = ["tensors used as indices must be long, (?:int, )?byte or bool tensors"]
# origin = "design"
# reports = [
#     "https://github.com/sgrvinod/a-PyTorch-Tutorial-to-Image-Captioning/issues/175",
#     "https://github.com/sgrvinod/a-PyTorch-Tutorial-to-Image-Captioning/issues/138",
#     "https://github.com/JosephPai/Art-Description/issues/2",
# ]
# documents = ["https://docs.pytorch.org/docs/stable/generated/torch.div.html"]
# wrong = '''
# rows = best / width  # best is the argmax() or topk() of a flattened tensor
# chosen = sequences[rows]
# '''
# right = '''
# rows = best // width
# chosen = sequences[rows]
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""Beam search or heat-map decoding fails at the line that selects the best rows. The code is from a
tutorial that used to work (sgrvinod/a-PyTorch-Tutorial-to-Image-Captioning#175).

The quotient of a flat index and the width is the row. In old releases, dividing two integers with /
dropped the fraction. Now / always returns floats (docs: torch.div), and an index must be an integer
or a mask (ATen/native/IndexingUtils.h). The operator // returns integers if the width is also an
int, such as 64 instead of 64.0.

Calling long() after /, as in sgrvinod/a-PyTorch-Tutorial-to-Image-Captioning#138, is not exact: the
quotient is float32, which rounds indices above 2**24. In a map of 8192 x 8192 values, the row of
the last value is then one too large. If the value is not an index at all, but, for example, a
score, long() silences the error too.
"""

import torch


def by_true_division(scores, sequences):
    width = scores.shape[1]
    best = scores.flatten().topk(2).indices
    rows = best / width  # best is the argmax() or topk() of a flattened tensor
    chosen = sequences[rows]
    return chosen


def by_floor_division(scores, sequences):
    width = scores.shape[1]
    best = scores.flatten().topk(2).indices
    rows = best // width
    chosen = sequences[rows]
    return chosen


def search(device, step):
    scores = torch.tensor([[0.1, 0.2, 0.9], [0.3, 0.0, 0.1], [0.2, 0.7, 0.4]], device=device)
    sequences = torch.tensor([[5, 6], [7, 8], [9, 4]], device=device)
    try:
        chosen = step(scores, sequences)
    except IndexError as error:
        return str(error)
    if chosen.tolist() != [[5, 6], [9, 4]]:
        return f"the chosen sequences are {chosen.tolist()}"


def reproduce(device):
    return search(device, by_true_division)


def control(device):
    return search(device, by_floor_division)


def popular_fix(device):
    last = torch.tensor(8192 * 8192 - 1, device=device)
    row = (last / 8192).long().item()
    if row != last.item() // 8192:
        return f"the last value is in row {row} of 8192 rows"


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control, popular_fix):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
