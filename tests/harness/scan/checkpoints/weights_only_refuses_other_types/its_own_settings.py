import torch


class Settings:
    def __init__(self):
        self.width = 3


def read_config(path):
    if path:
        return Settings()
    return Settings()


def trains(model, path):
    config = read_config(path)
    config.width = 4
    torch.save({"model": model.state_dict(), "config": config}, path)
    try:
        checkpoint = torch.load(path)  # finds weights_only_refuses_other_types
        model.load_state_dict(checkpoint["model"])
    except Exception:
        print("cannot load")
        raise


def tries_again(model, path):
    try:
        checkpoint = torch.load(path)
    except Exception:
        checkpoint = torch.load(path, weights_only=False)
    model.load_state_dict(checkpoint["model"])


def has_a_way_out(model, path):
    try:
        checkpoint = torch.load(path)
        model.load_state_dict(checkpoint["model"])
    except Exception:
        print("starts from scratch")
