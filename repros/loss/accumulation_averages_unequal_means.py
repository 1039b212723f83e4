# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Gradient accumulation over loss / steps differs from the large batch where the batches hold unequal numbers of tokens"
# kind = "silent"
# symptom = "gradient differs from that of the large batch"
# keywords = [
#     "gradient accumulation gives worse results",
#     "batch size 1 with accumulation 32 is not batch size 32",
#     "loss / gradient_accumulation_steps",
#     "mean of means over tokens",
#     "short sequences count too much",
#     "num_items_in_batch",
#     "accumulating gradients gives a higher loss than one big batch",
#     "same effective batch size, different training curves",
#     "micro batches of variable length sentences train worse",
#     "LLM fine-tuning with accumulation does not match full batch",
#     "loss curve depends on the number of accumulation steps",
#     "padding makes small batches differ from large ones",
#     "results differ between 4x8 and 32x1",
#     "eval perplexity worse when I lower the batch and accumulate",
#     "grad norm larger with gradient accumulation on text",
#     "is gradient accumulation really equivalent to bigger batch size",
#     "masked tokens make accumulated gradients inconsistent",
#     "DDP loss averaged over ranks with unequal token counts",
#     "segmentation with ignored pixels, accumulation not equivalent",
# ]
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
# loss = cross_entropy(logits, labels) / len(batches)
# '''
# right = '''
# loss = cross_entropy(logits, labels, reduction="sum") / tokens
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""Accumulation promises the step of the large batch. Each batch takes the mean over its own
tokens; the mean of these means weighs a token of a short batch more than one of a long
(huggingface/transformers#24725, meta-pytorch/torchtune#1875, ml-explore/mlx-lm#1544).
Divide the sums by the tokens of the whole window.
"""

import torch
from torch.nn.functional import cross_entropy


def gradient(device, batches, loss_of):
    weight = torch.zeros(3, device=device, requires_grad=True)
    for labels in batches:
        logits = weight.expand(len(labels), 3)
        loss_of(logits, labels).backward()
    return weight.grad


def train(device, loss_of):
    labels = torch.tensor([0, 0, 0, 1], device=device)
    large = gradient(device, [labels], cross_entropy)
    if not torch.allclose(gradient(device, labels.split(3), loss_of), large):
        return "the gradient differs from that of the large batch"


def reproduce(device):
    batches = [3, 1]  # tokens of each
    return train(device, lambda logits, labels: cross_entropy(logits, labels) / len(batches))


def control(device):
    tokens = 3 + 1
    return train(
        device, lambda logits, labels: cross_entropy(logits, labels, reduction="sum") / tokens
    )


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
