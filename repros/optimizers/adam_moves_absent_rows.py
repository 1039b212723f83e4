# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Adam continues to move the embedding of a token that occurs in no later batch"
# kind = "silent"
# symptom = "the row of the absent token moved by 0\\.[0-9]+"
# origin = "design"
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.optim.SparseAdam.html",
# ]
# wrong = '''
# embedding = torch.nn.Embedding(3, 2)
# optimizer = torch.optim.Adam(embedding.parameters(), lr=0.1)
# '''
# right = '''
# embedding = torch.nn.Embedding(3, 2, sparse=True)
# optimizer = torch.optim.SparseAdam(embedding.parameters(), lr=0.1)
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13" }
# ///
"""Even if a token occurs in only one batch, its row moves in every later step, although the row's
gradient is zero.

An Embedding's gradient is dense by default: zero in the rows of absent tokens. Adam, like SGD with
momentum, updates all rows with their running averages, which decay only slowly. AdamW also decays
the absent rows. With sparse=True, the gradient contains only the rows of the batch, and SparseAdam
updates only those rows (docs: torch.optim.SparseAdam). SparseAdam accepts only sparse gradients and
has no weight decay, so give all other parameters to a separate optimizer. If a Linear shares the
embedding's weight, the gradient is dense, so SparseAdam rejects it. clip_grad_value_() rejects
sparse gradients, and in newer releases clip_grad_norm_() does too (see
numerics/clip_rejects_sparse_gradients). For most models, moving absent rows is harmless. A
padding_idx row of zeros does not move.
"""

import torch


def check(device, embedding, optimizer):
    embedding = embedding.to(device)
    for token in (2, 0, 0):
        before = embedding.weight.detach().clone()
        optimizer.zero_grad()
        embedding(torch.tensor([token], device=device)).sum().backward()
        optimizer.step()
        if embedding.weight[token].equal(before[token]):
            return "the row of the batch did not move"
    if not embedding.weight[2].equal(before[2]):
        return f"the row of the absent token moved by {(embedding.weight - before)[2].norm():.2f}"


def reproduce(device):
    embedding = torch.nn.Embedding(3, 2)
    optimizer = torch.optim.Adam(embedding.parameters(), lr=0.1)
    return check(device, embedding, optimizer)


def control(device):
    embedding = torch.nn.Embedding(3, 2, sparse=True)
    optimizer = torch.optim.SparseAdam(embedding.parameters(), lr=0.1)
    return check(device, embedding, optimizer)


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
