import torch


def train(model, optimizer, start_epoch):
    for epoch in range(start_epoch, 10):
        model(torch.ones(1)).backward()
        optimizer.step()
        optimizer.zero_grad()
        torch.save(model.state_dict(), "weights.pt")
        save(model, "weights")


def save(model, folder):
    torch.save(model.state_dict(), folder + "/net.pt")  # finds interrupted_save_loses_the_checkpoint
