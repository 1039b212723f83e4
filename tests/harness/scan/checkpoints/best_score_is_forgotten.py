import argparse

import torch


def main(model, optimizer, train, validate, epochs):
    parser = argparse.ArgumentParser()
    parser.add_argument("--resume", default="")
    args = parser.parse_args()
    best_acc, start_epoch = 0.0, 0
    if args.resume:
        checkpoint = torch.load(args.resume, map_location="cpu")
        model.load_state_dict(checkpoint["model"])
        optimizer.load_state_dict(checkpoint["optimizer"])
        start_epoch = checkpoint["epoch"] + 1
    for epoch in range(start_epoch, epochs):
        train(model, optimizer).backward()
        acc = validate(model)
        state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}
        torch.save(state, f"{epoch}.pt")
        if acc > best_acc:  # finds best_score_is_forgotten
            best_acc = acc
            torch.save(model.state_dict(), f"model{epoch}.pt")
