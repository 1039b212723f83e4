# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "embedding.from_pretrained(vectors) does not change the random vectors of the embedding"
# kind = "silent"
# symptom = "the embedding has random vectors"
# origin = "usage"
# reports = ["https://github.com/fenchri/edge-oriented-graph/issues/12"]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.Embedding.html#torch.nn.Embedding.from_pretrained",
# ]
# wrong = '''
# embedding = torch.nn.Embedding(3, 2)
# embedding.from_pretrained(vectors, freeze=False)
# '''
# right = '''
# embedding = torch.nn.Embedding.from_pretrained(vectors.clone(), freeze=False)
# '''
# rule = "error"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""Results with and without pretrained vectors are the same.

from_pretrained() is a class method that returns a new Embedding (docs: from_pretrained). A call on
an instance works too, but does not change the instance. The new embedding does not have the
instance's options, such as padding_idx: pass them again. The weight shares its memory with the
given tensor, so clone() is needed (see layers/from_pretrained_is_frozen). The new embedding also
has the dtype and the device of the vectors. Replace the embedding before the optimizer is created
and before a head is tied to it, because the head keeps the old weight. To keep the embedding, call
embedding.weight.copy_(vectors) under torch.no_grad() instead.
"""

import torch


def check(device, vectors, embedding):
    weight = embedding.to(device).weight
    if not weight.cpu().equal(vectors):
        return "the embedding has random vectors"
    if not weight.requires_grad or weight.data_ptr() == vectors.data_ptr():
        return "the embedding is frozen or shares its memory"


def reproduce(device):
    vectors = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    embedding = torch.nn.Embedding(3, 2)
    embedding.from_pretrained(vectors, freeze=False)
    return check(device, vectors, embedding)


def control(device):
    vectors = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    embedding = torch.nn.Embedding.from_pretrained(vectors.clone(), freeze=False)
    return check(device, vectors, embedding)


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
