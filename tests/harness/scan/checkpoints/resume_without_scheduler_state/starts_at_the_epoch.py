import torch
from utils import Decay


def trains(model, loader, criterion, opt):
    optimizer = torch.optim.Adam(model.parameters())
    if opt.epoch != 0:
        model.load_state_dict(torch.load(f"model_{opt.epoch}.pt"))
        optimizer.load_state_dict(torch.load(f"optimizer_{opt.epoch}.pt"))
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, Decay(opt.epochs, opt.epoch).step)
    for epoch in range(opt.epoch, opt.epochs):
        for x, y in loader:
            criterion(model(x), y).backward()
            optimizer.step()
            optimizer.zero_grad()
        scheduler.step()
