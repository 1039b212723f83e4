# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "The gradient of a frequent bfloat16 Embedding row stalls on the CPU if its addends share a sign"
# kind = "silent"
# symptom = "weight.grad is 256, not 4096"
# origin = "torch"
# documents = [
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/aten/src/ATen/native/Embedding.cpp",
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/aten/src/ATen/native/EmbeddingBag.cpp",
#     "https://github.com/pytorch/pytorch/pull/89199",
# ]
# upstream = "unreported"
# wrong = '''
# embedding = torch.nn.Embedding(2, 1).bfloat16()
# hidden = embedding(tokens)
# '''
# right = '''
# embedding = torch.nn.Embedding(2, 1)  # the weight and its gradient in float32
# hidden = embedding(tokens).bfloat16()
# '''
# affected = { cpu = ">=1.13" }
# ///
"""If a token occurs 4096 times, each time with a gradient of 1, the gradient of its row is 256, or
2048 in float16. Up to 256 gradients of 1 are summed correctly, but 200 gradients of 0.3 give 53
instead of 60. If the gradients have both signs, they partly cancel, and a sum of 4096 gradients is
usually off by 2 to 20 percent.

The function embedding_dense_backward_cpu adds the rows of the gradient to the result one by one
(aten/src/ATen/native/Embedding.cpp). The result is in bfloat16, where 256 + 1 is 256. The backward
pass of weight[tokens] has the same problem.

For EmbeddingBag, _embedding_bag_dense_backward_cpu_sum_mean adds the rows in the same way
(aten/src/ATen/native/EmbeddingBag.cpp), although the forward pass sums in float32 (pytorch#89199).

A later call to model.to(torch.bfloat16) casts the weight again, so call embedding.float() after it.
If a head shares the weight, it has to multiply by embedding.weight.to(hidden.dtype). Otherwise, it
raises an error.
"""

import torch


def start(device):
    return torch.zeros(4096, dtype=torch.long, device=device)


def check(embedding, hidden):
    hidden.sum().backward()
    if embedding.weight.grad[0] != 4096:
        return f"weight.grad is {embedding.weight.grad[0].item():.0f}, not 4096"
    if hidden.dtype != torch.bfloat16 or embedding.weight.grad[1] != 0:
        return f"the output is {hidden.dtype}, the gradient {embedding.weight.grad.tolist()}"


def reproduce(device):
    tokens = start(device)
    embedding = torch.nn.Embedding(2, 1).bfloat16()
    hidden = embedding(tokens)
    return check(embedding, hidden)


def control(device):
    tokens = start(device)
    embedding = torch.nn.Embedding(2, 1)  # the weight and its gradient in float32
    hidden = embedding(tokens).bfloat16()
    return check(embedding, hidden)


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
