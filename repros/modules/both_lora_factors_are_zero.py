# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A LoRA update B @ A never trains if both factors start at zero"
# kind = "silent"
# symptom = "both factors are still zero"
# origin = "usage"
# reports = ["https://github.com/circle-hit/SAPT/issues/11"]
# documents = ["https://github.com/nvidia-cosmos/cosmos-predict2.5/pull/15"]
# wrong = '''
# A = torch.nn.Parameter(torch.zeros(2, 6))
# B = torch.nn.Parameter(torch.zeros(4, 2))
# '''
# right = '''
# A = torch.nn.Parameter(torch.empty(2, 6))
# torch.nn.init.kaiming_uniform_(A, a=5**0.5)
# B = torch.nn.Parameter(torch.zeros(4, 2))
# '''
# rule = "error"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""All gradients are zero, not None, and the output is always the same as that of the frozen model.

The gradient of A is a product with B, and the gradient of B is a product with A. With any optimizer
and learning rate, both factors therefore stay zero. If one factor is random and the other is zero,
the update starts at zero. Apart from weight decay, the zero factor then learns from the first step
on, and the random factor from the second step on. For kaiming_uniform_(), the second dimension of A
is the number of inputs, so for x @ A @ B, pass A.T. Two consecutive linear layers with zero weights
fail in the same way if the first layer has no bias or a bias of zeros. A ReLU or tanh between the
layers does not help. If another initialization runs later, such as the model's own init_weights(),
it can make the factors zero again (nvidia-cosmos/cosmos-predict2.5#15).
"""

import torch


def check(device, A, B):
    A, B = (torch.nn.Parameter(each.detach().to(device)) for each in (A, B))
    x, y = torch.eye(6, device=device), torch.ones(6, 4, device=device)
    optimizer = torch.optim.Adam([A, B], lr=0.1)
    if (B @ A).any():
        return "the update does not start at zero"
    for _ in range(200):
        optimizer.zero_grad()
        (x @ (B @ A).T - y).square().mean().backward()
        optimizer.step()
    if not A.any() and not B.any():
        return "both factors are still zero"
    if not torch.allclose((B @ A).T, y, atol=0.2):
        return "the update has not learned"


def reproduce(device):
    A = torch.nn.Parameter(torch.zeros(2, 6))
    B = torch.nn.Parameter(torch.zeros(4, 2))
    return check(device, A, B)


def control(device):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        A = torch.nn.Parameter(torch.empty(2, 6))
        torch.nn.init.kaiming_uniform_(A, a=5**0.5)
        B = torch.nn.Parameter(torch.zeros(4, 2))
    return check(device, A, B)


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
