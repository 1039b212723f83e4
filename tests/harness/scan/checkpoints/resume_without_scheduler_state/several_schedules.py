import torch
from torch.optim.lr_scheduler import CosineAnnealingLR, ExponentialLR, LinearLR, SequentialLR


def trains(model, loader, criterion, args):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    first = LinearLR(optimizer, 0.1)  # finds resume_without_scheduler_state
    second = CosineAnnealingLR(optimizer, 9)
    third = ExponentialLR(optimizer, 0.9)
    scheduler = SequentialLR(optimizer, [first, second, third], [3, 6])
    checkpoint = torch.load(args.resume)
    model.load_state_dict(checkpoint["model"])
    restores(optimizer, checkpoint["optimizer"])
    for epoch in range(checkpoint["epoch"], 9):
        for x, y in loader:
            criterion(model(x), y).backward()
            optimizer.step()
            optimizer.zero_grad()
        scheduler.step()
