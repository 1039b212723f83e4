# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Embedding raises 'index out of range in self' for an id that is not below num_embeddings"
# kind = "error"
# symptom = "index out of range in self"
# messages = ["index out of range in self"]
# elsewhere = [
#     "index out of range: Tried to access index \\d{1,20} out of table with",
#     "indexSelect\\w{5,20}.{0,120}? Assertion .srcIndex ?< ?srcSelectDimSize. failed",
#     "Assertion .srcIndex ?< ?srcSelectDimSize. failed",
#     "vectorized_gather_kernel.{0,160}? Assertion",
#     "index out of range at .{1,150}?THTensor(?:EvenMore)?Math",
# ]
# origin = "usage"
# reports = [
#     "https://github.com/mickeysjm/R-BERT/issues/5",
#     "https://github.com/kongds/E5-V/issues/7",
#     "https://github.com/huggingface/transformers/issues/12763",
# ]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.Embedding.html",
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/aten/src/ATen/native/TensorAdvancedIndexing.cpp",
# ]
# wrong = '''
# embedding = torch.nn.Embedding(3, 8)
# vocabulary["<image>"] = 3  # added to the tokenizer alone
# embedding(ids)
# '''
# right = '''
# rows = embedding.weight.detach().mean(0).repeat(max(vocabulary.values()) + 1, 1)
# rows[: embedding.num_embeddings] = embedding.weight.detach()
# embedding.weight = torch.nn.Parameter(rows, embedding.weight.requires_grad)
# embedding.num_embeddings = len(rows)  # all this before the optimizer is made
# embedding(ids)
# '''
# affected = { cpu = ">=1.13" }
# ///
"""The table of an Embedding has num_embeddings rows. After the table was created, the vocabulary
grew, so the id of a new token is beyond the last row. Examples are tokens added to the tokenizer
but not to the model (mickeysjm/R-BERT#5, huggingface/transformers#12763), and an image token whose
id equals the vocabulary size (kongds/E5-V#7).

The table needs a row for the largest id. If the ids have gaps, the table therefore needs more rows
than there are words. The new table keeps the trained rows, padding_idx, max_norm, sparse and
requires_grad. An optimizer that was created earlier never trains the new table, and a tied head has
to be tied to the new table again. An id of -1 causes the same error, but a larger table does not
help in this case. In a table of positions, the error means that the text is too long: truncate the
text instead.
"""

import torch


def start(device):
    embedding = torch.nn.Embedding(3, 8, padding_idx=0).to(device)
    vocabulary = {"<pad>": 0, "the": 1, "cat": 2}
    vocabulary["<image>"] = 5  # with a gap
    ids = torch.tensor([vocabulary[word] for word in ("<pad>", "the", "<image>")], device=device)
    return embedding, vocabulary, ids


def reproduce(device):
    embedding, vocabulary, ids = start(device)
    try:
        embedding(ids)
    except IndexError as error:
        return str(error)


def control(device):
    embedding, vocabulary, ids = start(device)
    trained = embedding.weight.detach().clone()
    rows = embedding.weight.detach().mean(0).repeat(max(vocabulary.values()) + 1, 1)
    rows[: embedding.num_embeddings] = embedding.weight.detach()
    embedding.weight = torch.nn.Parameter(rows, embedding.weight.requires_grad)
    embedding.num_embeddings = len(rows)  # all this before the optimizer is made
    embedding(ids)
    embedding(ids).sum().backward()
    if not torch.equal(embedding(ids)[:2], trained[:2]):
        return "the trained rows have changed"
    if embedding.weight.grad.sum(1).tolist() != [0, 8, 0, 0, 0, 8]:  # none for the padding
        return f"the gradients are {embedding.weight.grad.sum(1).tolist()}"


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
