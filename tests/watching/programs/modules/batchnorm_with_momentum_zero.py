import torch


def run(device, momentum):
    norm = torch.nn.BatchNorm1d(4, momentum=momentum)
    model = torch.nn.Sequential(norm, torch.nn.Linear(4, 2)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        model(torch.randn(8, 4, device=device)).square().mean().backward()
        optimizer.step()


def reproduce(device):
    run(device, momentum=0)


def control(device):
    run(device, momentum=0.1)
