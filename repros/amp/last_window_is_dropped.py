# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Gradient accumulation drops the last partial window and leaks it into the next epoch"
# kind = "silent"
# symptom = "1 step for 6 batches"
# keywords = ["gradient accumulation last batches ignored", "fewer optimizer steps than expected"]
# origin = "usage"
# reports = ["https://github.com/Lightning-AI/pytorch-lightning/issues/19987", "https://github.com/huggingface/transformers/issues/34191"]
# documents = ["https://github.com/meta-pytorch/torchtune/pull/2745"]
# wrong = '''
# TODO
# '''
# fix = "amp.train_epoch"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""`if step % k == 0` never fires for the batches after the last full window.

Their gradients wait for the next epoch, whose first step is taken with k + r batches
divided by k. Stepping at the last batch too, still divided by k, makes the opposite
mistake: the short window gets r/k of its weight.
"""

import torch

K = 4


def epoch(device, batches, step_at_end=False):
    weight = torch.zeros(1, device=device, requires_grad=True)
    steps = 0
    for number in range(1, batches + 1):
        (weight.sum() / K).backward()  # every batch's own gradient is 1
        if number % K == 0 or (step_at_end and number == batches):
            steps, used, weight.grad = steps + 1, weight.grad, None
    return steps, weight.grad, used.item()


def reproduce(device):
    steps, leftover, _ = epoch(device, batches=6)
    if leftover is not None:
        return f"{steps} step for 6 batches in windows of {K}; a gradient of {leftover.item()} leaks into the next epoch"


def control(device):
    steps, leftover, _ = epoch(device, batches=8)
    if leftover is not None or steps != 2:
        return f"{steps} steps for 8 batches"


def popular_fix(device):
    _, _, gradient = epoch(device, batches=6, step_at_end=True)
    if gradient != 1:
        return f"the last window steps with {gradient} of its mean gradient"


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
