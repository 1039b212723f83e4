# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Xavier initialisation makes a residual network explode where the default does not"
# kind = "silent"
# symptom = "xavier: weights are nan"
# origin = "usage"
# reports = ["https://github.com/pytorch/pytorch/issues/57109", "https://github.com/pytorch/pytorch/issues/15314"]
# documents = ["https://pytorch.org/docs/stable/nn.init.html"]
# wrong = '''
# TODO
# '''
# fix = "numerics.clip_or_skip"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""nn.Linear does initialise its weights: uniform with bound 1/sqrt(fan_in). For square
layers Xavier's bound is sqrt(3) times larger.

Through a stack of residual blocks that factor compounds, so "PyTorch has no
initialisation, add Xavier" is harmful advice here.
"""

import torch


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.Sequential(
            torch.nn.Linear(16, 16), torch.nn.GELU(), torch.nn.Linear(16, 16)
        )

    def forward(self, x):
        return x + self.body(x)


def train(device, xavier):
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Linear(4, 16), *[Block() for _ in range(4)], torch.nn.Linear(16, 1)
    ).to(device)
    for module in model.modules() if xavier else []:
        if isinstance(module, torch.nn.Linear):
            torch.nn.init.xavier_uniform_(module.weight)
            torch.nn.init.zeros_(module.bias)
    x, y = torch.randn(32, 4).to(device) * 15, torch.randn(32, 1).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    for step in range(1, 51):
        optimizer.zero_grad()
        (model(x) - y).square().mean().backward()
        optimizer.step()
        if model[0].weight.isnan().any():
            return f"xavier: weights are nan after step {step}"


def reproduce(device):
    return train(device, xavier=True)


def control(device):
    return train(device, xavier=False)


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
