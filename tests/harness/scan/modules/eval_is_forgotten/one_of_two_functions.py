import torch


def train(model, train_loader, val_loader, criterion, optimizer):
    for epoch in range(9):
        model.train()
        for x, y in train_loader:
            loss = criterion(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        validate(model, val_loader)


def validate(model, val_loader):
    model.eval()
    with torch.no_grad():
        return [model(x).argmax(1) for x, _ in val_loader] + [first(model, val_loader)]


def first(model, val_loader):
    for x, _ in val_loader:
        return model(x)


def check(model, val_loader):
    model.eval()
    for x, _ in val_loader:
        print(model(x).argmax(1))


def test(model, test_loader):
    found = []
    for x, _ in test_loader:
        found.append(model(x).argmax(1))  # finds eval_is_forgotten
    return found
