import torch


def main(model, optimizer, train, validate, epochs, resume):
    min_loss, start_epoch = float("inf"), 0
    if resume:
        state = torch.load(resume, map_location="cpu")
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        start_epoch = state["epoch"] + 1
    for epoch in range(start_epoch, epochs):
        train(model, optimizer).backward()
        loss = validate(model)
        if loss < min_loss:  # finds best_score_is_forgotten
            min_loss = loss
            state = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
            torch.save({**state, "epoch": epoch}, f"{epoch}.pt")
