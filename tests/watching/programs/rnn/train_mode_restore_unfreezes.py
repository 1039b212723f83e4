import torch


def run(device, freezes_again):
    norm = torch.nn.BatchNorm1d(4)
    model = torch.nn.Sequential(norm, torch.nn.Linear(4, 2)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    norm.eval()
    for step in range(12):
        x, y = torch.randn(8, 4, device=device), torch.randint(2, (8,), device=device)
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
        if step == 5:
            model.eval()
            with torch.no_grad():
                model(x)
            model.train()
            if freezes_again:
                norm.eval()


def reproduce(device):
    run(device, freezes_again=False)


def control(device):
    run(device, freezes_again=True)
