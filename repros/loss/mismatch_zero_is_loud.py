# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A loss that matches nothing and returns a constant zero raises in backward()"
# kind = "error"
# symptom = "element 0 of tensors does not require grad"
# messages = ["element \\d{1,9} of tensors does not require grad and does not have a grad_fn"]
# origin = "usage"
# reports = [
#     "https://github.com/RangiLyu/nanodet/issues/7",
#     "https://github.com/pytorchbearer/torchbearer/issues/414",
# ]
# documents = ["https://github.com/open-mmlab/mmpretrain/pull/1426"]
# wrong = '''
# terms = [outputs[name].mean() for name in targets if name in outputs]
# loss = sum(terms) if terms else torch.tensor(0.0)
# '''
# right = '''
# pairs = match_by_name(outputs, targets)  # raises, and names what is missing
# '''
# fix = "loss.match_by_name"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""backward() says that the loss does not require grad. Where no target finds its
prediction, the loss is a constant without a history, and backward() refuses it
(RangiLyu/nanodet#7: a batch without positive anchors; open-mmlab/mmpretrain#1426: a
batch without a task).

The advice given there, requires_grad=True on the zero (RangiLyu/nanodet#7), makes it
silent: backward() succeeds and reaches no parameter.
"""

import torch


def train(device, targets, **options):
    model = torch.nn.Linear(3, 1).to(device)
    outputs = {"price": model(torch.ones(2, 3, device=device))}
    terms = [outputs[name].mean() for name in targets if name in outputs]
    loss = sum(terms) if terms else torch.tensor(0.0, device=device, **options)
    try:
        loss.backward()
    except RuntimeError as error:
        return str(error)
    if model.weight.grad is None:
        return "backward() is quiet, and no parameter has a gradient"


def reproduce(device):
    return train(device, targets=["prices"])


def control(device):
    return train(device, targets=["price"])


def popular_fix(device):
    return train(device, targets=["prices"], requires_grad=True)


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
