import torch


def trains(model, loader, criterion, args):
    optimizer = torch.optim.Adam(model.parameters())
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 0.9**epoch)
    start_epoch = args.start_epoch
    optimizer.load_state_dict(torch.load(args.resume))
    for _ in range(start_epoch):
        scheduler.step()
    for epoch in range(start_epoch, 9):
        for x, y in loader:
            criterion(model(x), y).backward()
            optimizer.step()
            optimizer.zero_grad()
