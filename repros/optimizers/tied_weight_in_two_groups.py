# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "An optimizer with a group per layer rejects a model whose layers share a weight"
# kind = "error"
# symptom = "some parameters appear in more than one parameter group"
# messages = ["some parameters appear in more than one parameter group"]
# origin = "design"
# reports = ["https://github.com/zhuhanqing/APOLLO/issues/4"]
# documents = ["https://docs.pytorch.org/docs/stable/optim.html#per-parameter-options"]
# wrong = '''
# groups = [{"params": embedding.parameters(), "lr": 0.01}, {"params": head.parameters()}]
# optimizer = torch.optim.SGD(groups, lr=0.1)
# '''
# right = '''
# taken = set(embedding.parameters())
# own = [p for p in head.parameters() if p not in taken]
# groups = [{"params": embedding.parameters(), "lr": 0.01}, {"params": own}]
# optimizer = torch.optim.SGD(groups, lr=0.1)
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""Building the optimizer raises a ValueError, because a language model's head shares the weight of
its embedding, and the parameters() of both layers include this weight (zhuhanqing/APOLLO#4).

For the whole model, model.parameters() lists the weight only once (torch/nn/modules/module.py). If
the groups are built per layer, they must also include the weight only once.
"""

import torch


def start(device):
    embedding = torch.nn.Embedding(3, 2, device=device)
    head = torch.nn.Linear(2, 3, device=device)
    head.weight = embedding.weight
    return embedding, head


def check(embedding, head, optimizer):
    before = [p.detach().clone() for p in head.parameters()]
    head(embedding.weight).sum().backward()
    optimizer.step()
    for p, old, rate in zip(head.parameters(), before, (0.01, 0.1)):
        if not torch.allclose(p, old - rate * p.grad):
            return f"the step is {old - p}, not {rate} of {p.grad}"


def reproduce(device):
    embedding, head = start(device)
    groups = [{"params": embedding.parameters(), "lr": 0.01}, {"params": head.parameters()}]
    try:
        torch.optim.SGD(groups, lr=0.1)
    except ValueError as error:
        return str(error)


def control(device):
    embedding, head = start(device)
    taken = set(embedding.parameters())
    own = [p for p in head.parameters() if p not in taken]
    groups = [{"params": embedding.parameters(), "lr": 0.01}, {"params": own}]
    optimizer = torch.optim.SGD(groups, lr=0.1)
    return check(embedding, head, optimizer)


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
