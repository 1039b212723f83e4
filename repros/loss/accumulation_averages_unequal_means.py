# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Gradient accumulation of loss / steps is wrong if batches have unequal numbers of tokens"
# kind = "silent"
# symptom = "gradient differs from that of the large batch"
# origin = "usage"
# reports = [
#     "https://github.com/huggingface/trl/issues/2175",
#     "https://github.com/huggingface/transformers/issues/24725",
# ]
# documents = [
#     "https://github.com/meta-pytorch/torchtune/pull/1875",
#     "https://github.com/ml-explore/mlx-lm/pull/1544",
# ]
# wrong = '''
# for x, labels in batches:  # of one step
#     loss = cross_entropy(model(x), labels) / len(batches)
#     loss.backward()
# '''
# right = '''
# tokens = sum((labels != -100).sum() for _, labels in batches).clamp(min=1)  # ignore_index
# for x, labels in batches:
#     loss = cross_entropy(model(x).float(), labels, reduction="sum") / tokens
#     loss.backward()
# '''
# rule = "note"
# when = "the batches have different numbers of tokens"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""Accumulation should give the same step as one large batch. However, each batch computes the mean
over its own tokens. In the mean of these means, a token in a short batch has more weight than a
token in a long batch (huggingface/transformers#24725, meta-pytorch/torchtune#1875,
ml-explore/mlx-lm#1544). Instead, divide the sums by the number of tokens in the whole window,
without the tokens whose label is ignore_index. Sum in float32, because the sum over a few thousand
tokens is inf in float16.

Make `batches` a list: a generator would be empty after the first line, and nothing would be
trained. If another label is ignored, such as 255 in segmentation, count labels != 255. If the model
shifts the labels itself, as a language model does, count labels[:, 1:]. If the labels are class
probabilities, count their rows. In these cases, the corrected lines without this change give a
gradient that is too small. With class weights, divide by the sum of the labels' weights. In DDP,
call all_reduce(tokens) before the loop and multiply each loss by get_world_size(): see
distributed/summed_loss_shrinks. With only the factor, and no all_reduce(), the gradient is too
large.
"""

import torch
from torch.nn.functional import cross_entropy


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scores = torch.nn.Parameter(torch.zeros(3))

    def forward(self, x):
        return x * self.scores


def gradient(device, accumulate):
    model, x = Model().to(device), torch.ones(5, 1, device=device)
    labels = torch.tensor([0, 0, -100, 0, 1], device=device)
    accumulate(model, list(zip(x.split(4), labels.split(4))))  # of 3 tokens and of 1
    return model.scores.grad


def means(model, batches):
    for x, labels in batches:  # of one step
        loss = cross_entropy(model(x), labels) / len(batches)
        loss.backward()


def sums(model, batches):
    tokens = sum((labels != -100).sum() for _, labels in batches).clamp(min=1)  # ignore_index
    for x, labels in batches:
        loss = cross_entropy(model(x).float(), labels, reduction="sum") / tokens
        loss.backward()


def large_batch(model, batches):
    x, labels = (torch.cat(column) for column in zip(*batches))
    cross_entropy(model(x), labels).backward()


def check(device, accumulate):
    if not torch.allclose(gradient(device, accumulate), gradient(device, large_batch)):
        return "the gradient differs from that of the large batch"


def reproduce(device):
    return check(device, means)


def control(device):
    return check(device, sums)


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
