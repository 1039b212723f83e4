import torch


def trains(model, loader, criterion, scaler):
    adam = torch.optim.Adam(model.parameters())
    for epoch in range(9):
        for x, y in loader:
            scaler.scale(criterion(model(x), y)).backward()
            scaler.step(adam)
            scaler.update()
            adam.zero_grad()
        saved = {"model": model.state_dict(), "scaler": scaler.state_dict()}
        torch.save(saved, f"{epoch}.pt")  # finds resume_without_optimizer_state
        torch.save({"model": model.state_dict()}, f"weights-{epoch}.pt")
