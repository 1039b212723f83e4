import torch
from torch.utils.data import DataLoader


def validate(model, val_loader, criterion):
    model.eval()
    with torch.no_grad():
        for x, y in val_loader:
            val_loss = criterion(model(x), y)
    model.train()
    return val_loss.item()  # finds loss_of_the_last_batch_only


def validate_in_epochs(model, dataset, criterion, epochs):
    loader = DataLoader(dataset, batch_size=32)
    for epoch in range(epochs):
        with torch.no_grad():
            for i, (x, y) in enumerate(loader):
                loss = criterion(model(x), y)
                print(i, loss.item())
        print(f"epoch {epoch}: {loss:.3f}")  # finds loss_of_the_last_batch_only


def validate_on_a_device(model, val_loader, criterion, device):
    with torch.no_grad():
        for x, y in val_loader:
            x = x.to(device)
            y = y.to(device)
            val_loss = criterion(model(x), y)
    return val_loss.item()  # finds loss_of_the_last_batch_only


def validate_all(model, val_loader, criterion):
    total, rows = 0.0, 0
    with torch.no_grad():
        for x, y in val_loader:
            loss = criterion(model(x), y)
            total += loss.item() * len(y)
            rows += len(y)
    return total / rows


def collects(model, val_loader, criterion):
    losses = []
    with torch.no_grad():
        for x, y in val_loader:
            loss = criterion(model(x), y)
            losses.append(loss.item())
    loss = torch.tensor(losses)
    return loss


def one_batch(model, val_loader, criterion):
    with torch.no_grad():
        for x, y in val_loader:
            loss = criterion(model(x), y)
            break
    return loss.item()


def running_metric(model, val_loader, metric):
    with torch.no_grad():
        for x, y in val_loader:
            total_loss = metric.update(model(x), y)
    return total_loss


def metric_of_a_total(model, val_loader, confusion, accuracy):
    table = torch.zeros(3, 3)
    with torch.no_grad():
        for x, y in val_loader:
            table = table + confusion(model(x), y)
            acc = accuracy(table)
    return acc
