# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "CTC loss is inf if the input has too few frames for its target"
# kind = "silent"
# symptom = "the loss is inf"
# origin = "design"
# reports = [
#     "https://github.com/meijieru/crnn.pytorch/issues/235",
#     "https://github.com/pytorch/pytorch/issues/31557",
#     "https://github.com/espnet/espnet/issues/3630",
#     "https://github.com/espnet/espnet/issues/186",
# ]
# documents = [
#     "https://github.com/wenet-e2e/wenet/pull/2299",
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.CTCLoss.html",
# ]
# wrong = '''
# loss = ctc_loss(log_probs, targets, frames, lengths)  # 2 frames for "aa"
# '''
# right = '''
# steps = torch.arange(1, targets.shape[1], device=targets.device)
# double = (targets[:, 1:] == targets[:, :-1]) & (steps < lengths[:, None])
# fits = frames >= lengths + double.sum(1)
# some = log_probs[:, fits], targets[fits], frames[fits], lengths[fits]
# loss = ctc_loss(*some) if fits.any() else some[0].sum()  # of nothing, 0
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13" }
# ///
"""A target needs one frame for each label, and one more for the blank between two equal labels
(pytorch#31557). For example, two frames are too few for "aa". A target that does not fit into the
frames has an infinite loss. The model learns nothing from such samples, so omit these samples, and
count how many you omit. If many samples are omitted, the encoder's stride is too large. The
corrected code expects targets of shape (samples, labels), and frames and lengths as tensors on the
same device. Pass blank=, reduction= and similar options to the new call too.

Users are advised to set zero_infinity=True instead of cleaning the data (wenet-e2e/wenet#2299).
This option sets the infinite loss and its gradient to 0. The model still learns nothing from such a
sample, but the mean counts it.
"""

import torch
from torch.nn.functional import ctc_loss


def start(device):
    logits = torch.zeros(3, 2, 3, device=device, requires_grad=True)
    targets = torch.tensor([[1, 1], [1, 2]], device=device)  # "aa", "ab"
    frames, lengths = torch.tensor([2, 3], device=device), torch.tensor([2, 2], device=device)
    return logits, logits.log_softmax(2), targets, frames, lengths


def check(logits, loss):
    loss.backward()
    if loss.isinf():
        return f"the loss is {loss.item()}"
    alone = torch.zeros(3, 1, 3, device=logits.device, requires_grad=True)
    arguments = torch.tensor([[1, 2]], device=logits.device), torch.tensor([3]), torch.tensor([2])
    expected = ctc_loss(alone.log_softmax(2), *arguments)
    if not torch.allclose(loss, expected):
        return f"the loss is {loss.item():.2f} instead of {expected.item():.2f}"


def reproduce(device):
    logits, log_probs, targets, frames, lengths = start(device)
    loss = ctc_loss(log_probs, targets, frames, lengths)
    return check(logits, loss)


def control(device):
    logits, log_probs, targets, frames, lengths = start(device)
    steps = torch.arange(1, targets.shape[1], device=targets.device)
    double = (targets[:, 1:] == targets[:, :-1]) & (steps < lengths[:, None])
    fits = frames >= lengths + double.sum(1)
    some = log_probs[:, fits], targets[fits], frames[fits], lengths[fits]
    loss = ctc_loss(*some) if fits.any() else some[0].sum()  # of nothing, 0
    return check(logits, loss)


def popular_fix(device):
    logits, log_probs, targets, frames, lengths = start(device)
    return check(logits, ctc_loss(log_probs, targets, frames, lengths, zero_infinity=True))


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
