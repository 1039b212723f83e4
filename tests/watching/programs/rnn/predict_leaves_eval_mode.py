import torch


def run(device, after):
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Dropout(0.5), torch.nn.Linear(8, 2))
    model.to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(40):
        x, y = torch.randn(8, 4, device=device), torch.randint(2, (8,), device=device)
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
        if step == 20:
            model.eval()
            with torch.no_grad():
                model(x)
            after(model)


def reproduce(device):
    run(device, lambda model: None)


def control(device):
    run(device, lambda model: model.train())
