import torch
from util import load_checkpoint


def trains(model, loader, criterion, optimizer, path):
    load_checkpoint(path, model, optimizer)
    scaler = torch.amp.GradScaler("cuda")
    for x, y in loader:
        scaler.scale(criterion(model(x), y)).backward()
        scaler.step(optimizer)
        scaler.update()
    state = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
    torch.save(state, path)  # finds scaler_state_is_not_saved


if __name__ == "__main__":
    trains(*torch.load("parts.pt"))
