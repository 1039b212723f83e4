# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "torch.tensor() fails for lists of different lengths, for example of unpadded token ids"
# kind = "error"
# symptom = "expected sequence of length 3 at dim 1 \\(got 2\\)"
# messages = ["expected sequence of length \\d{1,9} at dim \\d{1,2} \\(got \\d{1,9}\\)"]
# origin = "design"
# reports = [
#     "https://github.com/declare-lab/Multimodal-Infomax/issues/8",
#     "https://github.com/declare-lab/BBFN/issues/3",
#     "https://github.com/JiaweiSheng/CasEE/issues/3",
#     "https://github.com/DefuLi/Emotional-Analysis-Transformers2.0-Bert/issues/2",
# ]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.rnn.pad_sequence.html",
#     "https://huggingface.co/docs/transformers/pad_truncation",
# ]
# wrong = '''
# batch = torch.tensor(sequences)
# '''
# right = '''
# from torch.nn.utils.rnn import pad_sequence
#
# batch = pad_sequence([torch.tensor(ids) for ids in sequences], batch_first=True)
# lengths = torch.tensor([len(ids) for ids in sequences])
# mask = torch.arange(batch.shape[1]) < lengths[:, None]
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""A batch of token ids in a collate function, or a whole dataset of them, cannot be converted
(JiaweiSheng/CasEE#3).

All rows of a tensor have the same length. torch.tensor() takes the length from the first row, and
raises an error at the first row whose length differs (torch/csrc/utils/tensor_new.cpp). By
contrast, pad_sequence() fills the shorter rows with zeros. For another padding token, pass
padding_value=tokenizer.pad_token_id. A Transformers tokenizer pads with padding=True (docs:
transformers, Padding and truncation).

The batch has the dtype of the first row. If a list of ids may be empty, pass dtype=torch.int64 to
torch.tensor(), which otherwise returns floats for an empty list. For lists of floats, pass
dtype=torch.float32. Otherwise, after a first row such as [0, 1], the fractions of the other rows
would be cut off silently.

The padding must not count, so the mask is True only for real tokens. Without the mask, the mean
over the sequence includes the padding (popular fix).
"""

import torch
from torch.nn.utils.rnn import pad_sequence

SEQUENCES = [[5, 2, 7], [1, 3]]


def without_padding(sequences):
    batch = torch.tensor(sequences)
    return batch, batch >= 0


def with_padding(sequences):
    batch = pad_sequence([torch.tensor(ids) for ids in sequences], batch_first=True)
    lengths = torch.tensor([len(ids) for ids in sequences])
    mask = torch.arange(batch.shape[1]) < lengths[:, None]
    return batch, mask


def encode(device, collate):
    embedding = torch.nn.Embedding(8, 2).to(device)
    try:
        batch, mask = collate(SEQUENCES)
    except ValueError as error:
        return str(error)
    mask = mask.to(device)[..., None]
    means = (embedding(batch.to(device)) * mask).sum(1) / mask.sum(1)
    one_by_one = [embedding.weight[ids].mean(0) for ids in SEQUENCES]
    if not torch.allclose(means, torch.stack(one_by_one), atol=1e-6):
        return "the padding changes the mean of a sequence"


def reproduce(device):
    return encode(device, without_padding)


def control(device):
    return encode(device, with_padding)


def popular_fix(device):
    padded = [ids + [0] * (3 - len(ids)) for ids in SEQUENCES]
    return encode(device, lambda sequences: without_padding(padded))


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
