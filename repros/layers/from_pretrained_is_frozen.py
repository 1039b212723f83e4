# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Embedding.from_pretrained() freezes the vectors unless freeze=False is passed"
# kind = "silent"
# symptom = "the vector did not move"
# origin = "design"
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.Embedding.html#torch.nn.Embedding.from_pretrained",
#     "https://github.com/huggingface/optimum-graphcore/pull/304",
# ]
# wrong = '''
# embedding = torch.nn.Embedding.from_pretrained(vectors)
# '''
# right = '''
# embedding = torch.nn.Embedding.from_pretrained(vectors.clone(), freeze=False)
# '''
# rule = "note"
# when = "the vectors should be trained"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The rest of the model learns, but the word vectors stay as they were loaded.

The default is freeze=True, which sets weight.requires_grad to False (docs: from_pretrained). The
same applies to EmbeddingBag. The weight shares its memory with the given tensor, so without
clone(), training would also change `vectors`. If an optimizer gets only the parameters with
requires_grad, build it after the corrected lines. The embedding has the dtype of the vectors, so if
they come from NumPy in float64, call vectors.float(). With padding_idx, the padding row is not set
to zero (see layers/padding_vector_is_not_zero).
"""

import torch


def check(device, vectors, embedding):
    embedding = embedding.to(device)
    scale = torch.nn.Parameter(torch.ones(1, device=device))
    optimizer = torch.optim.SGD([*embedding.parameters(), scale], lr=0.5)
    (embedding(torch.tensor([1], device=device)) * scale).sum().backward()
    optimizer.step()
    if embedding.weight[1].tolist() == [1.0, 1.0]:
        return "the vector did not move"
    if embedding.weight.tolist() != [[1.0, 1.0], [0.5, 0.5]] or not vectors.eq(1).all():
        return "the wrong vectors moved"


def reproduce(device):
    vectors = torch.ones(2, 2)
    embedding = torch.nn.Embedding.from_pretrained(vectors)
    return check(device, vectors, embedding)


def control(device):
    vectors = torch.ones(2, 2)
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
