import torch


def train(model, optimizer, start_epoch, best):
    for epoch in range(start_epoch, 10):
        model(torch.ones(1)).backward()
        optimizer.step()
        optimizer.zero_grad()
        state = {"model": model.state_dict(), "epoch": epoch}
        torch.save(state, "last.pt")
        if best:
            torch.save(state, "best.pt")
