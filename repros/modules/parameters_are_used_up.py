# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A generator of filtered parameters is empty after the parameters are counted"
# kind = "error"
# symptom = "optimizer got an empty parameter list"
# messages = ["optimizer got an empty parameter list"]
# origin = "usage"
# reports = [
#     "https://github.com/YanaiEliyahu/AdasOptimizer/issues/2",
#     "https://github.com/pytorch/pytorch/issues/47594",
# ]
# documents = ["https://github.com/pytorch/pytorch/issues/110357"]
# wrong = '''
# trainable = filter(lambda p: p.requires_grad, model.parameters())
# count = sum(p.numel() for p in trainable)
# optimizer = SGD(trainable, lr=0.1)
# '''
# right = '''
# trainable = list(filter(lambda p: p.requires_grad, model.parameters()))
# count = sum(p.numel() for p in trainable)
# optimizer = SGD(trainable, lr=0.1)
# '''
# rule = "error"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The program counts the parameters, but the optimizer then reports an empty list.

The iterators that filter() and parameters() return yield each item only once. After a sum or a
first loop (pytorch#110357), nothing is left for a second reader. The same happens if an optimizer
reads the parameters before its base class does (YanaiEliyahu/AdasOptimizer#2). An optimizer with
two groups silently accepts an empty group. With an empty iterator, clip_grad_norm_() clips nothing.
"""

import torch
from torch.optim import SGD


def reproduce(device):
    model = torch.nn.Linear(2, 2).to(device)
    trainable = filter(lambda p: p.requires_grad, model.parameters())
    count = sum(p.numel() for p in trainable)
    try:
        optimizer = SGD(trainable, lr=0.1)
    except ValueError as error:
        return f"{error}, after {count} numbers were counted"
    return f"{len(optimizer.param_groups[0]['params'])} parameters"


def control(device):
    model = torch.nn.Linear(2, 2).to(device)
    model.bias.requires_grad = False
    trainable = list(filter(lambda p: p.requires_grad, model.parameters()))
    count = sum(p.numel() for p in trainable)
    optimizer = SGD(trainable, lr=0.1)
    if count != 4 or optimizer.param_groups[0]["params"][0] is not model.weight:
        return f"{count} numbers were counted, {optimizer} has others"


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
