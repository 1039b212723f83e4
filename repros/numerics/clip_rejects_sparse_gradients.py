# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "clip_grad_norm_() raises an error on the CPU for the gradient of a sparse Embedding"
# kind = "error"
# symptom = "Could not run 'aten::(_foreach_norm.Scalar|linalg_vector_norm)'"
# messages = [
#     "Could not run 'aten::_foreach_norm\\.Scalar' with arguments from the 'Sparse",
#     "Could not run 'aten::linalg_vector_norm' with arguments from the 'Sparse",
# ]
# origin = "torch"
# reports = [
#     "https://github.com/pytorch/tutorials/issues/2245",
#     "https://github.com/pytorch/serve/issues/2947",
# ]
# documents = [
#     "https://github.com/amzn/pecos/pull/288",
#     "https://github.com/pytorch/pytorch/pull/185309",
# ]
# fixed_by = "pytorch#185309"
# wrong = '''
# model = torch.nn.EmbeddingBag(100, 4, sparse=True)
# optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
# for x, y in batches:
#     optimizer.zero_grad()
#     criterion(model(x), y).backward()
#     torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=0.1)
#     optimizer.step()
# '''
# right = '''
# model = torch.nn.EmbeddingBag(100, 4)
# optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
# for x, y in batches:
#     optimizer.zero_grad()
#     criterion(model(x), y).backward()
#     torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=0.1)
#     optimizer.step()
# '''
# fix = "numerics.clip_or_skip"
# use = '''
# from numerics import clip_or_skip
# model = torch.nn.EmbeddingBag(100, 4, sparse=True)
# optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
# for x, y in batches:
#     optimizer.zero_grad()
#     criterion(model(x), y).backward()
#     clip_or_skip(optimizer, max_norm=0.1)
# '''
# choice = "Use the lines without the fix, or torch 2.14. Use the fix if a dense gradient of the embedding would be too large. A single optimizer must then have all parameters, because the fix clips each optimizer separately"
# affected = { cpu = ">=2.0,<2.14" }
# ///
"""From 2.0 to 2.13, training that clips gradients of a sparse Embedding fails at the first step.

On the CPU, clip_grad_norm_() calls torch._foreach_norm() in 2.0 to 2.3 and
torch.linalg.vector_norm() in later releases (torch/nn/utils/clip_grad.py). Neither had a kernel for
sparse tensors until vector_norm() got one (pytorch#185309). The function that 1.13 called,
torch.norm(), supports sparse tensors (amzn/pecos#288 went back to torch.norm()). However, in 1.13
clip_grad_norm_() only returns the norm and does not shorten the gradient. With norm_type=inf, it
raises an error there too. On every release up to 2.15, clip_grad_value_() raises an error.

The corrected code makes the gradients dense. SparseAdam does not accept dense gradients, so use
Adam instead, whose moments then decay for every row in each step.
"""

import torch

batches = [(torch.tensor([[0, 1], [0, 2]]), 3.0), (torch.tensor([[0, 3], [0, 0]]), 5.0)]


def criterion(output, y):
    return y * output.sum()


def reproduce(device):
    def train():
        model = torch.nn.EmbeddingBag(100, 4, sparse=True)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for x, y in batches:
            optimizer.zero_grad()
            criterion(model(x), y).backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=0.1)
            optimizer.step()

    try:
        train()
    except NotImplementedError as error:
        return str(error)


def control(device):
    model = torch.nn.EmbeddingBag(100, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in batches:
        optimizer.zero_grad()
        criterion(model(x), y).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=0.1)
        optimizer.step()
    gradient = model.weight.grad.double()
    counts = torch.tensor([3.0, 0, 0, 1]).double()  # of the second batch, the first row in bags
    expected = 0.1 * (counts / counts.norm()).view(4, 1).expand(4, 4) / 2
    if not torch.allclose(gradient[:4], expected, atol=1e-5):
        return f"the clipped gradient is {gradient[:4].tolist()}"


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
