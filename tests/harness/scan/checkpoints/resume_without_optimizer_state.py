import torch


def trains(model, loader, criterion, args):
    optimizer = torch.optim.Adam(model.parameters())
    start_epoch = 0
    if args.resume:
        checkpoint = torch.load(args.resume)
        model.load_state_dict(checkpoint["model"])  # finds resume_without_optimizer_state
        start_epoch = checkpoint["epoch"]
    for epoch in range(start_epoch, 9):
        for x, y in loader:
            criterion(model(x), y).backward()
            optimizer.step()
            optimizer.zero_grad()
        torch.save({"model": model.state_dict(), "epoch": epoch}, f"{epoch}.pt")
