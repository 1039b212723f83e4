import torch


def trains(model, loader, criterion, args):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    checkpoint = torch.load(args.resume)
    model.load_state_dict(checkpoint["model"])
    optimizer.load_state_dict(checkpoint["optimizer"])
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=9)
    for epoch in range(checkpoint["epoch"], 9):
        optimizer.param_groups[0]["lr"] = 0.1 * 0.5**epoch
        for x, y in loader:
            criterion(model(x), y).backward()
            optimizer.step()
            optimizer.zero_grad()
