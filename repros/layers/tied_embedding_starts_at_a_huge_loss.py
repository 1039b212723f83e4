# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A head tied to a new Embedding starts with a loss far above log(classes)"
# kind = "silent"
# symptom = "the first loss is more than three times log\\(64\\)"
# origin = "design"
# reports = ["https://github.com/google-research/t5x/issues/1477"]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.Embedding.html",
#     "https://github.com/huggingface/transformers/pull/26441",
# ]
# wrong = '''
# head.weight = embedding.weight
# '''
# right = '''
# torch.nn.init.normal_(embedding.weight, std=embedding.embedding_dim**-0.5)  # positions too
# head.weight = embedding.weight
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The model starts with confident wrong predictions, and the first steps only unlearn them.

The weights of an Embedding start with a standard deviation of 1 (docs: torch.nn.Embedding), and the
weights of a Linear with d inputs start with 1 / sqrt(3 d) (torch/nn/modules/linear.py). After a
LayerNorm, the hidden values are about 1 in size. With such values, the embedding as a head gives
logits with a standard deviation of about sqrt(d). A uniform prediction would have a loss of
log(classes). With the corrected code, the embedded tokens become smaller too. If a position
embedding is added to them, initialize it in the same way: otherwise, it hides the tokens and slows
training. If the next layer does not normalize the sum, multiply the sum by sqrt(d). Call normal_()
before pretrained weights are loaded. The call also overwrites the zeros of padding_idx (see
layers/padding_vector_is_not_zero).
"""

import math

import torch


def start():
    embedding = torch.nn.Embedding(64, 256)
    return embedding, torch.nn.Linear(256, 64, bias=False), torch.randn(256, 256)


def check(device, embedding, head, hidden):
    logits = head.to(device)(torch.nn.functional.layer_norm(hidden, (256,)).to(device))
    labels = torch.arange(256, device=device) % 64
    loss = torch.nn.functional.cross_entropy(logits, labels).item()
    if loss > 3 * math.log(64):
        return "the first loss is more than three times log(64)"
    if loss > 1.3 * math.log(64) or head.weight.data_ptr() != embedding.weight.data_ptr():
        return f"the first loss is {loss}, or the weights are not tied"


def reproduce(device):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        embedding, head, hidden = start()
        head.weight = embedding.weight
    return check(device, embedding.to(device), head, hidden)


def control(device):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        embedding, head, hidden = start()
        torch.nn.init.normal_(embedding.weight, std=embedding.embedding_dim**-0.5)  # positions too
        head.weight = embedding.weight
    return check(device, embedding.to(device), head, hidden)


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
