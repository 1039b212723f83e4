import torch


def trains(model, loader, criterion, scaler, args):
    optimizer = torch.optim.Adam(model.parameters())
    for x, y in loader:
        if args.amp:
            loss = criterion(model(x), y)
            scaler.scale(loss).backward()
            scaler.step(optimizer)  # finds missing_zero_grad
            scaler.update()
        else:
            loss = criterion(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
