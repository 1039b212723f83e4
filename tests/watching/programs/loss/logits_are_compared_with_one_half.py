import torch


def run(device, bound):
    model = torch.nn.Linear(4, 1).to(device)
    criterion = torch.nn.BCEWithLogitsLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        x = torch.randn(16, 4, device=device)
        labels = (x[:, :1] > 0).float()
        optimizer.zero_grad()
        criterion(model(x), labels).backward()
        optimizer.step()
        with torch.no_grad():
            logits = model(x)
            predicted = logits > bound
            (predicted == labels).float().mean().item()


def reproduce(device):
    run(device, 0.5)


def control(device):
    run(device, 0)
