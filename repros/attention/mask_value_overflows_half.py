# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Filling masked scores with -1e9 fails in float16, and -inf makes fully masked rows NaN"
# kind = "error"
# symptom = "value cannot be converted to type .{2,3}::Half without overflow"
# messages = ["value cannot be converted to type (?:at|c10)::Half without overflow"]
# elsewhere = ["value cannot be converted to type (?:at|c10)::BFloat16 without overflow"]
# origin = "design"
# reports = [
#     "https://github.com/NVIDIA/apex/issues/1052",
#     "https://github.com/NVIDIA/apex/issues/1105",
# ]
# documents = [
#     "https://docs.pytorch.org/docs/stable/type_info.html",
#     "https://github.com/InternLM/lmdeploy/issues/3152",
# ]
# wrong = '''
# scores = scores.masked_fill(mask, -1e9)
# '''
# right = '''
# scores = scores.masked_fill(mask, torch.finfo(scores.dtype).min)
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The error appears with half() or autocast, but the same line works in float32 (NVIDIA/apex#1105).

The largest float16 number is 65504 (docs: torch.finfo), and filling with a number beyond the range
raises an error (NVIDIA/apex#1052). The smallest number of the dtype is far below any score, so the
softmax gives it a weight of zero. Use the dtype of the tensor that is filled:
InternLM/lmdeploy#3152 uses the dtype of another tensor. Under autocast, the dtype of a parameter is
float32, but scores can be float16.

The advice in NVIDIA/apex#1052 is float("-inf"), which makes a row NaN if all its positions are
masked, such as the row of an empty sequence. With the smallest number, all positions of this row
get equal weights. Adding -1e9 raises no error, but also gives -inf. Multiplying a float16 mask by
-1e9 can also turn the mask's zeros into NaN, as it does in PyTorch 1.13. In bfloat16, which has
nearly the range of float32, -1e9 raises no error, but the smallest float32 does. Apply the mask
last: adding a bias or converting to a smaller dtype after the mask can turn the smallest number
into -inf.
"""

import math

import torch


def attend(device, run):
    scores = torch.tensor([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]], device=device).half()
    mask = torch.tensor([[False, False, True], [True, True, True]], device=device)
    try:
        weights = run(scores, mask).float().softmax(-1)
    except RuntimeError as error:
        return str(error)
    first = torch.tensor([1.0, 2.0], device=device).softmax(0)
    expected = torch.stack([torch.cat([first, first.new_zeros(1)]), first.new_full((3,), 1 / 3)])
    if not torch.allclose(weights, expected, atol=1e-3):
        return f"the weights are {weights.tolist()}"


def reproduce(device):
    def run(scores, mask):
        scores = scores.masked_fill(mask, -1e9)
        return scores

    return attend(device, run)


def control(device):
    scores = torch.ones(2, 2, device=device).half()
    mask = torch.eye(2, device=device) > 0
    scores = scores.masked_fill(mask, torch.finfo(scores.dtype).min)
    if scores.tolist() != [[-65504, 1], [1, -65504]] or scores.dtype != torch.float16:
        return f"the scores are {scores.tolist()}"
    converted = torch.tensor(torch.finfo(torch.float32).min, device=device).half()
    for late in ((scores - 100)[0, 0], converted):
        if late.item() != -math.inf:
            return f"a later change turns the smallest number into {late.item()}"


def right(device):
    def run(scores, mask):
        scores = scores.masked_fill(mask, torch.finfo(scores.dtype).min)
        return scores

    return attend(device, run)


def popular_fix(device):
    return attend(device, lambda scores, mask: scores.masked_fill(mask, float("-inf")))


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control, right, popular_fix):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
