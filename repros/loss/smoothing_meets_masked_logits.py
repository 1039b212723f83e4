# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "cross_entropy with label_smoothing is inf if a class is masked with -inf"
# kind = "silent"
# symptom = "the loss with label smoothing is inf"
# origin = "design"
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.CrossEntropyLoss.html",
#     "https://github.com/facebookresearch/pytext/pull/1698",
# ]
# wrong = '''
# logits = logits.masked_fill(~allowed, float("-inf"))
# loss = torch.nn.functional.cross_entropy(logits, y, label_smoothing=0.1)
# '''
# right = '''
# log_p = logits.masked_fill(~allowed, float("-inf")).log_softmax(-1)
# smooth = -log_p.masked_fill(~allowed, 0.0).sum(-1) / allowed.sum(-1)
# loss = (-0.9 * log_p.gather(-1, y[..., None])[..., 0] + 0.1 * smooth).mean()
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13" }
# ///
"""Without label smoothing, the loss of the same logits is finite.

Label smoothing mixes the labels with a uniform distribution over all classes (docs:
CrossEntropyLoss), so the masked classes get part of the label. However, their log-probability is
-inf. The gradients stay finite, but they push the allowed logits down as if the others could rise.
With -1e4 or -1e9 in place of -inf, the gradients are the same, and the loss is huge instead of
infinite. The corrected lines smooth only over the allowed classes of each row. They expect the
classes in the last dimension, and support neither ignore_index nor class weights. If a label's own
class is masked, the loss is still inf.
"""

import torch


def start(device):
    logits = torch.tensor([[1.0, 2.0, 0.5, 3.0], [0.0, 1.0, 4.0, 2.0]], device=device)
    allowed = torch.tensor([[True, True, True, False], [False, True, False, True]], device=device)
    return logits.requires_grad_(), allowed, torch.tensor([0, 3], device=device)


def check(loss, logits, allowed, y):
    if loss.isinf():
        return "the loss with label smoothing is inf"
    cross_entropy = torch.nn.functional.cross_entropy
    rows = [  # each row with its allowed classes alone
        cross_entropy(row[mask][None], mask[:label].sum()[None], label_smoothing=0.1)
        for row, mask, label in zip(logits, allowed, y)
    ]
    expected = torch.stack(rows).mean()
    grads = [torch.autograd.grad(each, logits)[0] for each in (loss, expected)]
    if not torch.allclose(loss, expected) or not torch.allclose(*grads, atol=1e-6):
        return f"the loss is {loss.item()}, not {expected.item()}"


def reproduce(device):
    logits, allowed, y = leaf = start(device)
    logits = logits.masked_fill(~allowed, float("-inf"))
    loss = torch.nn.functional.cross_entropy(logits, y, label_smoothing=0.1)
    return check(loss, *leaf)


def control(device):
    logits, allowed, y = start(device)
    log_p = logits.masked_fill(~allowed, float("-inf")).log_softmax(-1)
    smooth = -log_p.masked_fill(~allowed, 0.0).sum(-1) / allowed.sum(-1)
    loss = (-0.9 * log_p.gather(-1, y[..., None])[..., 0] + 0.1 * smooth).mean()
    return check(loss, logits, allowed, y)


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
