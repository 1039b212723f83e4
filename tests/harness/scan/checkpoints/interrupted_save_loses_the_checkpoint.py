import torch


def train(model, optimizer, loader, start_epoch, path):
    for epoch in range(start_epoch, 10):
        for x in loader:
            optimizer.zero_grad()
            model(x).backward()
            optimizer.step()
        torch.save(model.state_dict(), "weights.pt")
        state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}
        torch.save(state, "last.pt")  # finds interrupted_save_loses_the_checkpoint
