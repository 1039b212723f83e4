# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Initializing the weight of an Embedding permanently overwrites the zeros at its padding_idx"
# kind = "silent"
# symptom = "padding changes the sum of the vectors"
# origin = "design"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/6495",
#     "https://github.com/pytorch/pytorch/issues/6411",
#     "https://github.com/microsoft/Graphormer/issues/41",
# ]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.Embedding.html",
#     "https://github.com/facebookresearch/fairseq/issues/4076",
# ]
# wrong = '''
# embedding = torch.nn.Embedding(5, 3, padding_idx=0)
# torch.nn.init.normal_(embedding.weight)
# '''
# right = '''
# embedding = torch.nn.Embedding(5, 3, padding_idx=0)
# torch.nn.init.normal_(embedding.weight)
# if embedding.padding_idx is not None:
#     torch.nn.init.zeros_(embedding.weight[embedding.padding_idx])
# '''
# rule = "note"
# when = "nothing masks the padding"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""Padding adds a random vector to each sum and mean, and the gradients do not remove it.

Only the constructor and reset_parameters() fill the padding row with zeros
(torch/nn/modules/sparse.py). Afterwards, padding_idx only keeps gradients from the row (docs:
torch.nn.Embedding), so its values stay, or shrink slowly with weight decay. If a head is tied to
the weight, training the head changes even a row of zeros. After weight.data.normal_(),
weight.data.copy_() or from_pretrained(padding_idx=0), the row is not zero either. Do not omit the
condition: without padding_idx, weight[None] is the whole weight, and all vectors become zero
(facebookresearch/fairseq#4076). A mean still has to be divided by the number of tokens that are not
padding.
"""

import torch


def check(device, embedding):
    embedding = embedding.to(device)
    short, padded = (torch.tensor(ids, device=device) for ids in ([1, 2], [1, 2, 0, 0]))
    if not torch.allclose(embedding(padded).sum(0), embedding(short).sum(0)):
        return "padding changes the sum of the vectors"
    if not embedding.weight.requires_grad or (embedding.weight[1:] == 0).any():
        return "the other vectors are zero or frozen"


def reproduce(device):
    embedding = torch.nn.Embedding(5, 3, padding_idx=0)
    torch.nn.init.normal_(embedding.weight)
    return check(device, embedding)


def control(device):
    embedding = torch.nn.Embedding(5, 3, padding_idx=0)
    torch.nn.init.normal_(embedding.weight)
    if embedding.padding_idx is not None:
        torch.nn.init.zeros_(embedding.weight[embedding.padding_idx])
    return check(device, embedding)


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
