import torch


def trains_and_clears_in_both(model, loader, criterion, scaler, args):
    optimizer = torch.optim.Adam(model.parameters())
    for x, y in loader:
        loss = criterion(model(x), y)
        loss.backward()
        if args.amp:
            optimizer.step()
            optimizer.zero_grad()
        else:
            optimizer.step()
            optimizer.zero_grad()
