import torch


def steps(model, loader, criterion, optimizer, scheduler):
    for x, y in loader:
        criterion(model(x), y).backward()
        optimizer.step()
        optimizer.zero_grad()
    scheduler.step()


def trains(model, loader, criterion, start_epoch, epochs):
    optimizer = torch.optim.Adam(model.parameters())
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs)
    for epoch in range(start_epoch, epochs):
        steps(model, loader, criterion, optimizer, scheduler)
        torch.save(model.state_dict(), "best.pt")  # finds interrupted_save_loses_the_checkpoint
    return epoch


def main(model, loader, criterion):
    epoch = trains(model, loader, criterion, 0, 9)
    model.load_state_dict(torch.load("best.pt"))
    trains(model, loader, criterion, epoch, 18)
