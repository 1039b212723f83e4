# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "The reported loss shrinks with the number of accumulation steps"
# kind = "silent"
# symptom = "reports 0.25 for a loss of 1.0"
# keywords = ["loss too small with gradient accumulation"]
# origin = "usage"
# reports = ["https://github.com/huggingface/transformers/issues/34191", "https://github.com/huggingface/transformers/issues/35203"]
# wrong = '''
# TODO
# '''
# fix = "amp.train_epoch"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The loss is divided by the window for backward(), and the divided value is the one
that is summed and averaged.

Runs with different windows cannot be compared, and early stopping with a threshold
changes its meaning.
"""

import torch


def epoch(device, window):
    weight = torch.zeros(1, device=device, requires_grad=True)
    total = 0.0
    for _ in range(8):
        loss = ((weight - 1) ** 2).sum() / window
        loss.backward()
        total += loss.item()
    if total / 8 != 1:
        return f"window {window} reports {total / 8} for a loss of 1.0"


def reproduce(device):
    return epoch(device, window=4)


def control(device):
    return epoch(device, window=1)


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
