import torch


def save_checkpoint(model, state, filename):
    state["model"] = model.state_dict()
    torch.save(state, filename)


def train(model, optimizer, loader, validate):
    best = 0
    for epoch in range(10):
        for x in loader:
            optimizer.zero_grad()
            model(x).backward()
            optimizer.step()
        save_checkpoint(model, {"epoch": epoch}, f"epoch{epoch}.pt")
        if (score := validate(model)) > best:
            best = score
            save_checkpoint(model, {"epoch": epoch}, "best.pt")
