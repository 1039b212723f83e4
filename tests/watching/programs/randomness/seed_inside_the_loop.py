import torch


def run(device, in_the_loop):
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Dropout(0.5), torch.nn.Linear(8, 2))
    model.to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    torch.manual_seed(0)
    for _ in range(6):
        if in_the_loop:
            torch.manual_seed(0)
        optimizer.zero_grad()
        model(torch.ones(8, 4, device=device)).square().mean().backward()
        optimizer.step()


def reproduce(device):
    run(device, in_the_loop=True)


def control(device):
    run(device, in_the_loop=False)
