import torch


def trains(model, train_loader, val_loader, criterion, optimizer):
    for x, y in train_loader:
        model.train()
        criterion(model(x), y).backward()
        optimizer.step()
        optimizer.zero_grad()
        model.eval()
        with torch.no_grad():
            for x, y in val_loader:
                criterion(model(x), y)
