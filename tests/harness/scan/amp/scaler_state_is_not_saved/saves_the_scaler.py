import torch


def trains(model, loader, criterion, optimizer, path):
    scaler = torch.amp.GradScaler("cuda")
    for x, y in loader:
        scaler.scale(criterion(model(x), y)).backward()
        scaler.step(optimizer)
        scaler.update()
    state = {"optimizer": optimizer.state_dict(), "scaler": scaler.state_dict()}
    torch.save(state, path)
