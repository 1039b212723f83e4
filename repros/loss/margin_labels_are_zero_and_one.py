# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "margin_ranking_loss() with labels 0 and 1 learns nothing from pairs with label 0"
# kind = "silent"
# symptom = "label 0 gives a gradient of 0"
# origin = "usage"
# reports = ["https://github.com/seathiefwang/RankPose/issues/4"]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.MarginRankingLoss.html",
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.CosineEmbeddingLoss.html",
# ]
# wrong = '''
# loss = torch.nn.functional.margin_ranking_loss(first, second, labels, margin=0.1)
# '''
# right = '''
# loss = torch.nn.functional.margin_ranking_loss(first, second, 2 * labels - 1, margin=0.1)
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The loss decreases, but the model only learns pairs in which the first input should rank higher.

The labels of this loss are 1 and -1 (docs: torch.nn.MarginRankingLoss). The difference of the
scores is multiplied by the label, so for a label of 0, the loss is the margin, whatever the scores
are. The functions cosine_embedding_loss() and soft_margin_loss() expect the same labels, and give
no gradient for a label of 0. Labels of 1 and -1 are right for hinge_embedding_loss() too, but for a
label of 0, this loss reduces distances above the margin.

Pass the labels as they are if they already are 1 and -1: the corrected line would turn -1 into -3.
Convert uint8 labels with .long() first, because 2 * 0 - 1 is 255 in uint8. To skip ties on purpose,
keep 0 as their label.
"""

import torch


def zero_and_one(first, second, labels):
    loss = torch.nn.functional.margin_ranking_loss(first, second, labels, margin=0.1)
    return loss


def plus_and_minus(first, second, labels):
    loss = torch.nn.functional.margin_ranking_loss(first, second, 2 * labels - 1, margin=0.1)
    return loss


def check(device, loss_of):
    first = torch.tensor([1.0, -1.0], device=device, requires_grad=True)
    labels = torch.tensor([0, 1], device=device)  # both pairs are ranked the wrong way round
    loss = loss_of(first, torch.zeros(2, device=device), labels)
    loss.backward()
    if first.grad[0] == 0:
        return "label 0 gives a gradient of 0"
    if abs(loss.item() - 1.1) > 1e-6 or first.grad.tolist() != [0.5, -0.5]:
        return f"the loss is {loss.item()}, and its gradient {first.grad.tolist()}"


def reproduce(device):
    return check(device, zero_and_one)


def control(device):
    return check(device, plus_and_minus)


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
