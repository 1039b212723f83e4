# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "clip_grad_norm_() raises on the gradient of a sparse Embedding, which 1.13 clipped"
# kind = "error"
# symptom = "Could not run 'aten::(_foreach_norm.Scalar|linalg_vector_norm)'"
# messages = [
#     "Could not run 'aten::_foreach_norm\\.Scalar' with arguments from the 'Sparse",
#     "Could not run 'aten::linalg_vector_norm' with arguments from the 'Sparse",
# ]
# keywords = [
#     "clip_grad_norm_ sparse=True",
#     "EmbeddingBag sparse gradient clipping",
#     "gradient clipping stopped working with sparse embeddings after upgrade",
#     "cannot clip gradients of a recommender with sparse embedding",
#     "sparse embedding training crashes at clipping",
#     "clip works for dense layers, not sparse embedding",
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
# embedding = torch.nn.Embedding(4, 2, sparse=True)
# torch.nn.utils.clip_grad_norm_(embedding.parameters(), 0.1)
# '''
# right = '''
# embedding = torch.nn.Embedding(4, 2, sparse=False)
# '''
# fix = "upgrade"
# affected = { cpu = ">=2.0,<2.14" }
# ///
"""Training that clips the gradients of a sparse Embedding stops at the first step since 2.0.

On the CPU clip_grad_norm_() calls torch._foreach_norm() in 2.0 to 2.3 and
torch.linalg.vector_norm() since then (torch/nn/utils/clip_grad.py). Neither had a kernel
for sparse tensors until vector_norm() got one (pytorch#185309); torch.norm(), which 1.13
called, has one (amzn/pecos#288 went back to it). clip_grad_value_() raises on every
release up to 2.15.
"""

import torch


def clip(device, sparse):
    embedding = torch.nn.Embedding(4, 2, sparse=sparse).to(device)
    embedding(torch.tensor([0, 1], device=device)).sum().backward()
    torch.nn.utils.clip_grad_norm_(embedding.parameters(), 0.1)


def reproduce(device):
    try:
        clip(device, sparse=True)
    except NotImplementedError as error:
        return str(error)


def control(device):
    clip(device, sparse=False)


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
