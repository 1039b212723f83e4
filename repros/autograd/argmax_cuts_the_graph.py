# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A loss computed from the class numbers of argmax() has no gradient"
# kind = "error"
# symptom = "element 0 of tensors does not require grad"
# messages = ["element \\d{1,9} of tensors does not require grad and does not have a grad_fn"]
# origin = "design"
# reports = [
#     "https://github.com/LZGMatrix/BOP19_CDPN_2019ICCV/issues/4",
#     "https://github.com/wonbeomjang/mobile-hair-segmentation-pytorch/issues/3",
# ]
# documents = [
#     "https://github.com/ronghuaiyang/arcface-pytorch/issues/56",
#     "https://docs.pytorch.org/docs/stable/generated/torch.argmax.html",
# ]
# wrong = '''
# predicted = scores.argmax(dim=1).float()
# loss = (predicted - y).square().mean()
# '''
# right = '''
# loss = torch.nn.functional.cross_entropy(scores, y)
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""backward() reports that the loss does not require grad, although every parameter does
(LZGMatrix/BOP19_CDPN_2019ICCV#4).

argmax() returns integers, which have no gradient. Compute the loss from the scores of the last
layer, before argmax(). If the scores have passed through a softmax, the loss cannot fall to 0 (see
loss/softmax_before_cross_entropy), although the result of argmax() is the same. Users tried
loss.requires_grad = True (ronghuaiyang/arcface-pytorch#56), which makes the loss a leaf, so
backward() succeeds but trains nothing.

cross_entropy() expects int64 class numbers of shape (batch,), such as y.long().squeeze(1) if y is a
column, and at least two columns of scores.
"""

import torch


def start(device):
    layer = torch.nn.Linear(3, 3, bias=False).to(device)
    torch.nn.init.zeros_(layer.weight)
    y = torch.tensor([0, 1, 2], device=device)
    return layer, torch.eye(3, device=device), y


def check(layer, x, y, loss):
    optimizer = torch.optim.SGD(layer.parameters(), lr=1.0)
    try:
        for _ in range(20):
            optimizer.zero_grad()
            loss(layer(x), y).backward()
            optimizer.step()
    except RuntimeError as error:
        return str(error)
    if not layer(x).argmax(dim=1).equal(y):
        return "backward() is quiet, and after 20 steps the classes are still wrong"


def of_classes(scores, y):
    predicted = scores.argmax(dim=1).float()
    loss = (predicted - y).square().mean()
    return loss


def of_scores(scores, y):
    loss = torch.nn.functional.cross_entropy(scores, y)
    return loss


def reproduce(device):
    return check(*start(device), of_classes)


def control(device):
    return check(*start(device), of_scores)


def popular_fix(device):
    return check(*start(device), lambda scores, y: of_classes(scores, y).requires_grad_())


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control, popular_fix):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
