import numpy as np
import torch


def saves(model, scores, path):
    torch.save({"model": model.state_dict(), "best": np.mean(scores)}, path)


def loads(model, path):
    saved = torch.load(path)  # finds weights_only_refuses_other_types
    model.load_state_dict(saved["model"])
    return saved["best"]


def loads_all(model, path):
    saved = torch.load(path, weights_only=False)
    model.load_state_dict(saved["model"])
    return saved["best"]
