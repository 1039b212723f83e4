# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "gumbel_softmax() of probabilities draws the most likely class too rarely"
# kind = "silent"
# symptom = "probability 0.9 is drawn with a frequency of 0\\.5"
# origin = "usage"
# reports = ["https://github.com/pytorch/pytorch/issues/97851"]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.gumbel_softmax.html",
# ]
# wrong = '''
# sample = torch.nn.functional.gumbel_softmax(logits.softmax(-1), hard=True)
# '''
# right = '''
# sample = torch.nn.functional.gumbel_softmax(logits, hard=True)
# '''
# rule = "error"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""However sure the model is, its samples vary too much.

gumbel_softmax() expects unnormalized log-probabilities (docs: torch.nn.functional.gumbel_softmax)
and cannot check them. Probabilities differ by at most 1, so among three classes the likeliest is
drawn with a frequency of at most 0.58. If only probabilities are available, pass their logarithm.
If zeros occur, first apply clamp(min=1e-20) in float32. Applying log_softmax() to logits before the
call changes nothing. multinomial() is different: it expects probabilities.
"""

import torch


def of_probabilities(logits):
    sample = torch.nn.functional.gumbel_softmax(logits.softmax(-1), hard=True)
    return sample


def of_logits(logits):
    sample = torch.nn.functional.gumbel_softmax(logits, hard=True)
    return sample


def check(device, draw):
    probabilities = torch.tensor([0.9, 0.05, 0.05], device=device)
    samples = draw(probabilities.log().expand(4000, 3))
    frequency = samples.mean(0)
    if (frequency - probabilities).abs().max() > 0.05:
        return f"a class with probability 0.9 is drawn with a frequency of {frequency[0]:.2f}"


def reproduce(device):
    return check(device, of_probabilities)


def control(device):
    return check(device, of_logits)


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
