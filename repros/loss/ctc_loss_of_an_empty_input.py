# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "ctc_loss() with zero_infinity counts a sample that has no frames"
# kind = "silent"
# symptom = "loss of a sample without frames is 1\\.69"
# origin = "torch"
# reports = ["https://github.com/pytorch/pytorch/issues/81459"]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.ctc_loss.html",
#     "https://github.com/pytorch/pytorch/pull/123193",
# ]
# fixed_by = "pytorch#123193"
# wrong = '''
# ctc_loss = torch.nn.CTCLoss(zero_infinity=True)
# '''
# fix = "upgrade"
# affected = { cpu = "<2.4" }
# ///
"""A sample with two labels but no frames adds a meaningless number to the loss. Its target does not
fit into the frames, like the target of a sample with a single frame (control). The loss should
therefore be infinite, and zero_infinity should set it to 0 (docs: torch.nn.functional.ctc_loss).

The loss was read from the row of the last frame, which is row -1 for a sample without frames
(aten/src/ATen/native/LossCTC.cpp, pytorch#81459, pytorch#123193). In this reproducer that is the
last row of the preceding sample. If another thread processes that sample, the row can be
uninitialized memory. If a sample without frames was alone in its batch, its loss was negative.
Without zero_infinity, the loss is also a meaningless number instead of infinity. If clips with
frames have a negative loss, the cause is different: the scores were not passed through
log_softmax().
"""

import torch


def loss(device, frames):
    ctc_loss = torch.nn.CTCLoss(reduction="none", zero_infinity=True)
    log_probs = torch.full((4, 1000, 3), 1 / 3, device=device).log()
    targets = torch.tensor([[1, 2]], device=device).repeat(1000, 1)
    lengths = torch.full((1000,), 4)  # so many that one thread does the first two samples
    lengths[1] = frames
    seen = ctc_loss(log_probs, targets, lengths, torch.full((1000,), 2))
    if seen[1] != 0:
        return f"loss of a sample without frames is {seen[1]:.2f}"


def reproduce(device):
    return loss(device, frames=0)


def control(device):
    return loss(device, frames=1)


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
