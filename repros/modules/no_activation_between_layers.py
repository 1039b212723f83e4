# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Two linear layers without an activation between them learn no more than a single linear layer"
# kind = "silent"
# symptom = "the loss stays at 0.25"
# origin = "usage"
# reports = [
#     "https://github.com/nutonomy/nuscenes-devkit/issues/728",
#     "https://github.com/YujiaBao/ls/issues/1",
#     "https://github.com/Nota-NetsPresso/netspresso-trainer/issues/320",
# ]
# wrong = '''
# model = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Linear(8, 1))
# '''
# right = '''
# model = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
# '''
# rule = "warning"
# when = "the dimension between the layers is not meant as a bottleneck"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""More or wider layers do not lower the loss. For XOR, the loss stays at 0.25, the loss of a
constant.

The function W2 (W1 x + b1) + b2 is linear in x, so one layer can compute it
(nutonomy/nuscenes-devkit#728). Convolutions, average pooling, Dropout, and BatchNorm in eval mode
are linear too, so they do not replace an activation. Do not add an activation after the last layer
(see modules/relu_behind_the_last_layer). In a Sequential, each activation shifts the indices of the
layers after it, so a checkpoint of the old model has different keys.
"""

import torch


def check(device, model):
    model = model.to(device)
    x = torch.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], device=device)
    y = torch.tensor([[0.0], [1.0], [1.0], [0.0]], device=device)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    for _ in range(300):
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
    if loss > 0.1:
        return f"the loss stays at {loss.item():.2f}"


def reproduce(device):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Linear(8, 1))
    return check(device, model)


def control(device):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
    return check(device, model)


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
