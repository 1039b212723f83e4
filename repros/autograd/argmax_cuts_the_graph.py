# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A loss that is computed from argmax() has no gradient"
# kind = "error"
# symptom = "element 0 of tensors does not require grad"
# messages = ["element \\d{1,9} of tensors does not require grad and does not have a grad_fn"]
# keywords = [
#     "argmax is not differentiable",
#     "loss on predicted classes",
#     "loss from accuracy",
#     "requires_grad=True on the loss does not help",
#     "loss is constant accuracy zero",
#     "element 0 of tensors does not require grad argmax",
#     "want to train on the predicted class",
#     "my accuracy loss cannot be backpropagated",
#     "how to make argmax trainable",
#     "custom metric as loss does not backpropagate",
# ]
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
# loss = (predicted - target).square().mean()
# '''
# right = '''
# predicted = (scores.softmax(dim=1) * classes).sum(dim=1)
# loss = (predicted - target).square().mean()
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""backward() says that the loss does not require grad, although every parameter does
(LZGMatrix/BOP19_CDPN_2019ICCV#4).

argmax() returns integers, which have no gradient. The expectation over softmax() has one
(control). loss.requires_grad = True, tried instead (ronghuaiyang/arcface-pytorch#56),
makes the loss a leaf: backward() succeeds, and nothing is trained.
"""

import torch


def train(device, soft, mark_loss=False):
    layer = torch.nn.Linear(2, 3).to(device)
    scores, target = layer(torch.ones(4, 2, device=device)), torch.ones(4, device=device)
    if soft:
        classes = torch.arange(3, device=device)
        predicted = (scores.softmax(dim=1) * classes).sum(dim=1)
    else:
        predicted = scores.argmax(dim=1).float()
    loss = (predicted - target).square().mean()
    if mark_loss:
        loss.requires_grad = True
    try:
        loss.backward()
    except RuntimeError as error:
        return str(error)
    if layer.weight.grad is None:
        return "backward() is quiet, and no parameter has a gradient"


def reproduce(device):
    return train(device, soft=False)


def control(device):
    return train(device, soft=True)


def popular_fix(device):
    return train(device, soft=False, mark_loss=True)


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
