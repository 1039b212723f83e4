# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "torch.cat fails for the outputs of batches that are padded to different lengths"
# kind = "error"
# symptom = "Sizes of tensors must match except in dimension 0. Expected size 3 but got size 5"
# messages = [
#     "Sizes of tensors must match except in dimension \\d{1,2}\\. Expected size \\d{1,9} but got size \\d{1,9}",
# ]
# elsewhere = ["Sizes of tensors must match except in dimension \\d{1,2}\\. Got \\d{1,9} and \\d{1,9}"]
# origin = "usage"
# reports = ["https://github.com/rapidsai/crossfit/issues/65"]
# documents = [
#     "https://github.com/huggingface/transformers/pull/8336",
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.rnn.pad_sequence.html",
# ]
# wrong = '''
# predictions = torch.cat(outputs)  # of shape [batch, longest of this batch, classes]
# '''
# right = '''
# rows = [row for output in outputs for row in output]
# predictions = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=-100)
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The loop over the batches runs to its end, and then torch.cat(outputs) fails. If all batches
happen to have the same length, as in a small dataset, no error occurs (rapidsai/crossfit#65).

Each batch is padded to its own longest sequence, so the second dimension of the outputs varies.
torch.cat needs equal sizes in all dimensions except the one along which it joins
(aten/src/ATen/native/TensorShape.h). pad_sequence() pads the rows of all batches to the longest row
(docs: torch.nn.utils.rnn.pad_sequence).

Pad the labels in the same way, and let the metric ignore the padded positions. Predictions for the
padding within a batch remain. Only the added positions contain -100. For these positions, argmax()
of the logits returns class 0. Pad token ids with the pad token's id. Convert booleans to another
dtype first, because -100 would become True.
"""

import torch
from torch.nn.utils.rnn import pad_sequence

SEQUENCES = [torch.arange(n, dtype=torch.float32)[:, None] for n in (3, 1, 5, 2)]


def outputs_of(device):
    batches = SEQUENCES[:2], SEQUENCES[2:]
    return [pad_sequence(batch, batch_first=True).to(device) for batch in batches]


def check(predictions):
    for predicted, sequence in zip(predictions.cpu(), SEQUENCES):
        if not torch.equal(predicted[: len(sequence)], sequence):
            return "a row does not start with its sequence"
    if predictions.shape != (4, 5, 1) or not (predictions[:2, 3:] == -100).all():
        return "the rows are not padded to the longest of all"


def reproduce(device):
    outputs = outputs_of(device)
    try:
        predictions = torch.cat(outputs)  # of shape [batch, longest of this batch, classes]
    except RuntimeError as error:
        return str(error)
    return check(predictions)


def control(device):
    outputs = outputs_of(device)
    rows = [row for output in outputs for row in output]
    predictions = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=-100)
    return check(predictions)


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
