import torch


def trains(loader, criterion, args):
    model = torch.load(args.path, "cpu", weights_only=False)  # finds resume_without_optimizer_state
    optimizer = torch.optim.Adam(model.parameters())
    for epoch in range(args.start_epoch, 9):
        for x, y in loader:
            criterion(model(x), y).backward()
            optimizer.step()
            optimizer.zero_grad()
