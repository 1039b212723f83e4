# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A second loss term that uses argmax() has no gradient, whatever its weight"
# kind = "silent"
# symptom = "the gradient is the same with the term as without it"
# origin = "design"
# reports = ["https://github.com/Ugenteraan/Deep_Hierarchical_Classification/issues/6"]
# documents = ["https://docs.pytorch.org/docs/stable/generated/torch.argmax.html"]
# wrong = '''
# penalty = (scores.argmax(dim=1) != target).float().mean()
# loss = torch.nn.functional.cross_entropy(scores, target) + 100 * penalty
# '''
# right = '''
# hit = scores.softmax(dim=1).gather(1, target.long().clamp(min=0)[:, None])[:, 0]
# penalty = 1 - hit[target >= 0].mean()  # without the ignored, of -100
# loss = torch.nn.functional.cross_entropy(scores, target) + 100 * penalty
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The printed loss includes the penalty, but training continues as if the penalty were absent. In a
sum, the penalty's weight does not change any gradient
(Ugenteraan/Deep_Hierarchical_Classification#6). However, a scheduler that reads the loss does see
the penalty.

argmax() and comparisons return tensors without a gradient. backward() raises an error only if
*nothing* in the loss has a gradient. Here the other term hides the failure. The probability of the
class has a gradient (control). cross_entropy() also accepts classes in uint8, but gather() does
not, so the corrected code calls long(). If you pass an ignore_index other than -100 to
cross_entropy(), exclude that index from the penalty too.

round() and a threshold have no gradient either. For two classes, use the sigmoid itself. For Dice,
IoU, F1 or a count of predictions, use probabilities instead of hard predictions.
"""

import torch


def hard(scores, target):
    penalty = (scores.argmax(dim=1) != target).float().mean()
    loss = torch.nn.functional.cross_entropy(scores, target) + 100 * penalty
    return loss


def soft(scores, target):
    hit = scores.softmax(dim=1).gather(1, target.long().clamp(min=0)[:, None])[:, 0]
    penalty = 1 - hit[target >= 0].mean()  # without the ignored, of -100
    loss = torch.nn.functional.cross_entropy(scores, target) + 100 * penalty
    return loss


def compare(device, both):
    scores = torch.linspace(-1, 1, 12, device=device).reshape(4, 3).requires_grad_()
    target = torch.tensor([0, 1, 2, 0], device=device)
    alone = torch.nn.functional.cross_entropy(scores, target)
    (first,) = torch.autograd.grad(alone, scores)
    (gradient,) = torch.autograd.grad(both(scores, target), scores)
    if gradient.equal(first):
        return "the gradient is the same with the term as without it"
    p, is_class = scores.softmax(dim=1), torch.nn.functional.one_hot(target, 3)
    chosen = (p * is_class).sum(dim=1, keepdim=True)
    if not torch.allclose(gradient, first - 25 * chosen * (is_class - p), atol=1e-4):
        return "the gradient is not that of the mean probability of another class"


def reproduce(device):
    return compare(device, hard)


def control(device):
    return compare(device, soft)


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
