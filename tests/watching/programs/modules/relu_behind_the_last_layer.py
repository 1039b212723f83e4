import torch


def run(device, *last):
    model = torch.nn.Sequential(
        torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3), *last
    )
    model.to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        x, y = torch.randn(8, 4, device=device), torch.randint(3, (8,), device=device)
        optimizer.zero_grad()
        torch.nn.CrossEntropyLoss()(model(x), y).backward()
        optimizer.step()


def reproduce(device):
    run(device, torch.nn.ReLU())


def control(device):
    run(device)
