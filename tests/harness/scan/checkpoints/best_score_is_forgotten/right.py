import torch


def main(model, optimizer, train, validate, epochs, resume):
    best, start_epoch = 0.0, 0
    if resume:
        state = torch.load(resume, map_location="cpu")
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        start_epoch, best = state["epoch"] + 1, state["best"]
    for epoch in range(start_epoch, epochs):
        train(model, optimizer).backward()
        acc = validate(model)
        if acc > best:
            best = acc
            torch.save(model.state_dict(), f"best{epoch}.pt")
        state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "best": best}
        torch.save({**state, "epoch": epoch}, f"{epoch}.pt")
