# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A training loop inside one autocast block keeps using the weights of the first step"
# kind = "silent"
# symptom = "the loss stays at 1.0 while the weight moves"
# origin = "design"
# documents = [
#     "https://github.com/X-GenGroup/Flow-Factory/pull/186",
#     "https://github.com/pytorch/pytorch/pull/63552",
#     "https://docs.pytorch.org/docs/stable/amp.html",
# ]
# wrong = '''
# with torch.autocast(device, torch.bfloat16):
#     for x, y in loader:
#         loss = criterion(model(x), y)
#         optimizer.zero_grad()
#         loss.backward()
#         optimizer.step()
# '''
# right = '''
# for x, y in loader:
#     with torch.autocast(device, torch.bfloat16):
#         loss = criterion(model(x), y)
#     optimizer.zero_grad()
#     loss.backward()
#     optimizer.step()
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13" }
# ///
"""The loss hardly changes, although gradients arrive and optimizer.step() changes the weights.

autocast keeps the low-precision copy of each float32 weight that requires a gradient, and deletes
the copies at the end of the outermost block (aten/src/ATen/autocast_mode.cpp, pytorch#63552).
Inside the block, the model therefore computes with the weights of the first step. A block around
only the forward pass does not help if a decorator or a caller has already opened another block. The
weights of norms and embeddings, which autocast does not cast, do train. Weights that are used
through a view, as in x @ w.t() or einsum(), train as well. The same is true of computed weights,
such as those of weight_norm(). If the weight of an embedding is also used by another layer, only
the lookup uses the new values. If load_state_dict() or a moving average changes weights inside the
block, the model does not use the new values either (X-GenGroup/Flow-Factory#186). Another fix is to
pass cache_enabled=False to every call of torch.autocast(). Each use of a weight then casts the
weight again.
"""

import torch


def start(device):
    model = torch.nn.Linear(1, 1, bias=False).to(device)
    torch.nn.init.ones_(model.weight)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.25)
    data, losses = torch.ones(1, 1, device=device), []

    def criterion(prediction, y):
        losses.append(prediction.float().sum())
        return losses[-1]

    return model, optimizer, criterion, [(data, data)] * 3, losses


def check(losses):
    seen = [loss.item() for loss in losses]
    if seen == [1.0, 1.0, 1.0]:
        return "the loss stays at 1.0 while the weight moves"
    if seen != [1.0, 0.75, 0.5]:
        return f"the losses are {seen}"


def reproduce(device):
    model, optimizer, criterion, loader, losses = start(device)
    with torch.autocast(device, torch.bfloat16):
        for x, y in loader:
            loss = criterion(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return check(losses)


def control(device):
    model, optimizer, criterion, loader, losses = start(device)
    for x, y in loader:
        with torch.autocast(device, torch.bfloat16):
            loss = criterion(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return check(losses)


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
