import torch


def train(model, optimizer, loader, validate, path):
    best = 0
    for epoch in range(10):
        for x in loader:
            optimizer.zero_grad()
            model(x).backward()
            optimizer.step()
        torch.save(model.state_dict(), f"epoch{epoch}.pt")
        if (score := validate(model)) > best:
            best = score
            torch.save(model.state_dict(), "best.pt")
