# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "The gradient of a frequent row of a bfloat16 Embedding stops growing on the CPU"
# kind = "silent"
# symptom = "weight.grad is 256, not 4096"
# keywords = [
#     "Embedding gradient wrong in bfloat16 on CPU",
#     "EmbeddingBag gradient wrong in bfloat16 on CPU",
#     "frequent token gradient too small",
#     "frequent words learn slower than rare ones in bf16",
#     "embedding gradient differs between CPU and GPU",
#     "bfloat16 training of embeddings worse than float32 on CPU",
#     "gradient of the padding or common token saturates",
#     "embedding grad is exactly 256 for common tokens",
#     "bf16 gradients do not match fp32 for the embedding table",
#     "CPU training language model in bfloat16 learns badly",
#     "gradient too small when one id repeats often",
#     "item embedding of popular items hardly updated",
#     "gradient check of embedding fails in low precision",
# ]
# origin = "torch"
# documents = [
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/aten/src/ATen/native/Embedding.cpp",
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/aten/src/ATen/native/EmbeddingBag.cpp",
#     "https://github.com/pytorch/pytorch/pull/89199",
# ]
# upstream = "unreported"
# wrong = '''
# weight = torch.zeros(2, 1, dtype=torch.bfloat16, requires_grad=True)
# torch.nn.functional.embedding(tokens, weight).sum().backward()
# '''
# right = '''
# weight = torch.zeros(2, 1, requires_grad=True)
# torch.nn.functional.embedding(tokens, weight).bfloat16().sum().backward()
# '''
# affected = { cpu = ">=1.13" }
# ///
"""A token that occurs 4096 times gives its row a gradient of 256.

embedding_dense_backward_cpu adds one row of the gradient after the other to the result
(aten/src/ATen/native/Embedding.cpp), which is bfloat16: 256 + 1 is 256 there.

_embedding_bag_dense_backward_cpu_sum_mean adds them up in the same way
(aten/src/ATen/native/EmbeddingBag.cpp), although the forward of EmbeddingBag sums in
float32 (pytorch#89199).
"""

import torch


def train(device, dtype):
    weight = torch.zeros(2, 1, dtype=dtype, device=device, requires_grad=True)
    tokens = torch.zeros(4096, dtype=torch.long, device=device)
    torch.nn.functional.embedding(tokens, weight).bfloat16().sum().backward()
    if weight.grad[0] < 2048:
        return f"weight.grad is {weight.grad[0].item():.0f}, not 4096"


def reproduce(device):
    return train(device, torch.bfloat16)


def control(device):
    return train(device, torch.float32)


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
