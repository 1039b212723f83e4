# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A loss of 0 * output trains nothing, yet the weights move"
# kind = "silent"
# symptom = "every gradient is zero and the weights moved"
# keywords = [
#     "weights change but the model does not learn",
#     "weights shrink although the loss is zero",
#     "frozen head still changes during training",
#     "parameters change with all gradients zero",
#     "disabled a loss with weight zero, its branch still decays",
#     "unused branch weights slowly go to zero",
#     "checksum of weights changes but the accuracy does not",
#     "is my model learning if the weights change",
#     "weight norm falls steadily and performance stays flat",
#     "turned off a task with factor 0, head gets worse",
#     "multiplying loss by 0 for unused parameters in DDP",
#     "layer without signal drifts toward zero",
# ]
# origin = "design"
# reports = ["https://github.com/pytorch/pytorch/issues/38581"]
# documents = ["https://docs.pytorch.org/docs/stable/generated/torch.optim.Optimizer.zero_grad.html"]
# wrong = '''
# loss = 0.0 * output
# loss.backward()
# optimizer.step()
# '''
# fix = "loss.check_gradients"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""An optimizer skips a parameter whose gradient is None and steps with one that is zero
(docs: torch.optim.Optimizer.zero_grad): weight decay shrinks the weights all the same
(pytorch#38581), so "the weights changed" does not show that a model learns.

AdamW multiplies the weights by (1 - lr * weight_decay) (torch/optim/adam.py), and its
weight_decay is 0.01 unless told otherwise (torch/optim/adamw.py).
"""

import torch


def train(device, **options):
    weight = torch.ones(3, device=device, requires_grad=True)
    optimizer = torch.optim.AdamW([weight], lr=0.1, **options)
    output = weight.sum()
    (0.0 * output).backward()
    optimizer.step()
    moved = (1 - weight).abs().max().item()
    if moved and not weight.grad.any():
        return f"every gradient is zero and the weights moved by {moved:.1g}"


def reproduce(device):
    return train(device)


def control(device):
    return train(device, weight_decay=0.0)


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
