import torch


def train(model, config, path):
    torch.save({"state": model.state_dict(), "config": config, "lr": config["lr"]}, path)


def resume(model, path):
    saved = torch.load(path)
    model.load_state_dict(saved["state"])
