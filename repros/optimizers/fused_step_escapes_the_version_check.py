# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "backward() after a fused step mixes new weights with old activations without an error"
# kind = "silent"
# symptom = "at the weights .1.9, 1.9. is .1.9, 2.0."
# origin = "torch"
# documents = [
#     "https://docs.pytorch.org/docs/stable/notes/autograd.html#in-place-correctness-checks",
# ]
# upstream = "unreported"
# wrong = '''
# optimizer = torch.optim.Adam(model.parameters(), lr=0.1, fused=True)
# loss = criterion(model(x), y)
# for _ in range(2):
#     optimizer.zero_grad()
#     loss.backward(retain_graph=True)
#     optimizer.step()
# '''
# right = '''
# optimizer = torch.optim.Adam(model.parameters(), lr=0.1, fused=True)
# for _ in range(2):
#     loss = criterion(model(x), y)
#     optimizer.zero_grad()
#     loss.backward()
#     optimizer.step()
# '''
# requires = ">=2.4"
# affected = { cpu = ">=2.4", cuda = ">=2.4" }
# ///
"""The second gradient is right for neither the old nor the new weights, but no error is raised.

The backward pass of every Linear except the first reads the layer's weight, which the step has
changed since the forward pass. In-place operations increment the version of a tensor, except
through .data. If the version of a saved tensor differs from its version in the forward pass,
backward() raises an error (docs: autograd mechanics, in-place correctness checks). Adam, AdamW, SGD
and Adagrad with fused=True change parameters without incrementing their versions. Without
fused=True, the same code raises the error of autograd/step_between_two_backwards, which also shows
the order for a GAN. Other code that compares p._version, such as a cache of processed weights,
misses the step too.
"""

import torch


def start(device):
    model = torch.nn.Sequential(*(torch.nn.Linear(1, 1, bias=False) for _ in range(2))).to(device)
    for parameter in model.parameters():
        torch.nn.init.constant_(parameter, 2.0)
    x, y = torch.ones(1, 1, device=device), torch.zeros(1, 1, device=device)
    return model, lambda output, y: (output - y).sum(), x, y


def check(model):
    seen = [round(parameter.grad.item(), 2) for parameter in model.parameters()]
    if seen != [1.9, 1.9]:  # of w1 * w2, after a step of 0.1
        return f"the gradient at the weights [1.9, 1.9] is {seen}"


def reproduce(device):
    model, criterion, x, y = start(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1, fused=True)
    loss = criterion(model(x), y)
    for _ in range(2):
        optimizer.zero_grad()
        loss.backward(retain_graph=True)
        optimizer.step()
    return check(model)


def control(device):
    model, criterion, x, y = start(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1, fused=True)
    for _ in range(2):
        loss = criterion(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return check(model)


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
