import torch


def steps(model, loader, criterion, optimizer):
    for x, y in loader:
        criterion(model(x), y).backward()
        optimizer.step()
        optimizer.zero_grad()


def trains(model, loader, criterion, start_epoch, epochs, stopping):
    optimizer = torch.optim.Adam(model.parameters())
    for epoch in range(start_epoch, epochs):
        steps(model, loader, criterion, optimizer)
        stopping(model)
    model.load_state_dict(stopping.best)
    return epoch


def main(model, loader, criterion, stopping):
    epoch = trains(model, loader, criterion, 0, 9, stopping)
    model.load_state_dict(torch.load("best.pt"))
    trains(model, loader, criterion, epoch, 18, stopping)
