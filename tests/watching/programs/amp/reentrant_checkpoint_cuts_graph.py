import torch
from torch.utils.checkpoint import checkpoint


def run(device, reentrant):
    block, head = torch.nn.Linear(4, 4).to(device), torch.nn.Linear(4, 2).to(device)
    optimizer = torch.optim.SGD([*block.parameters(), *head.parameters()], lr=0.1)
    for _ in range(3):
        x, y = torch.randn(8, 4, device=device), torch.randint(2, (8,), device=device)
        optimizer.zero_grad()
        hidden = checkpoint(block, x, use_reentrant=reentrant)
        torch.nn.functional.cross_entropy(head(hidden.relu()), y).backward()
        optimizer.step()


def reproduce(device):
    run(device, reentrant=True)


def control(device):
    run(device, reentrant=False)
