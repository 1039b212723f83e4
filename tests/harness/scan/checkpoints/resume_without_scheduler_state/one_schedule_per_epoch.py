import torch


def trains(model, loader, criterion, args):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    checkpoint = torch.load(args.resume)
    model.load_state_dict(checkpoint["model"])
    optimizer.load_state_dict(checkpoint["optimizer"])
    for epoch in range(checkpoint["epoch"], 9):
        steps(model, loader, criterion, optimizer, epoch)


def steps(model, loader, criterion, optimizer, epoch):
    scheduler = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, 5)
    for x, y in loader:
        criterion(model(x), y).backward()
        optimizer.step()
        optimizer.zero_grad()
        scheduler.step()
