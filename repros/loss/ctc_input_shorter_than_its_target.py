# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "CTC loss is inf where the input has too few frames for its target"
# kind = "silent"
# symptom = "the loss is inf"
# keywords = [
#     "CTC loss is inf or nan",
#     "CTCLoss becomes nan in every epoch",
#     "zero_infinity=True",
#     "input length shorter than target length",
#     "too much downsampling in time for CTC",
#     "OCR or speech recognition loss inf",
#     "speech model loss infinite on some utterances",
#     "text recognition training shows inf after a few batches",
#     "loss inf for long transcripts and short audio",
#     "license plate reader loss becomes infinite",
#     "words with double letters give infinite loss",
#     "handwriting recognition loss nan from the first epoch",
#     "loss fine for most samples, inf for a few",
#     "average loss is inf because of single audio files",
#     "network predicts only blanks, loss is zero for many samples",
#     "audio clip too short for the text",
#     "zero infinity set and some samples never learned",
#     "CRNN loss inf with narrow images",
# ]
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
# loss = ctc_loss(log_probs, targets, frames, lengths)  # 3 frames for "aa"
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13" }
# ///
"""A target needs a frame for each label and one for the blank between two equal labels
(pytorch#31557): "aa" cannot be said in two frames, and what is impossible has an infinite
loss.

zero_infinity=True is advised because it saves cleaning the data (wenet-e2e/wenet#2299). It
makes that loss 0, and its gradient too: nothing is learned from such a sample.
"""

import torch
from torch.nn.functional import ctc_loss


def train(device, frames, **options):
    logits = torch.zeros(frames, 1, 3, device=device, requires_grad=True)
    targets = torch.tensor([[1, 1]], device=device)  # "aa"
    lengths = torch.tensor([2])
    log_probs = logits.log_softmax(2)
    loss = ctc_loss(log_probs, targets, torch.tensor([frames]), lengths, **options)
    loss.backward()
    if loss.isinf():
        return f"the loss is {loss.item()}"
    if not logits.grad.any():
        return f"the loss is {loss.item()}, and the sample has no gradient"


def reproduce(device):
    return train(device, frames=2)


def control(device):
    return train(device, frames=3)


def popular_fix(device):
    return train(device, frames=2, zero_infinity=True)


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
