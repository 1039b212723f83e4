import numpy as np
import torch


def trains(model, scores, path):
    best = np.mean(scores)
    torch.save({"model": model.state_dict(), "best": best}, path)  # finds weights_only_refuses_other_types
    mean = float(np.mean(scores))
    worst = min(scores)
    torch.save({"model": model.state_dict(), "mean": mean, "worst": worst}, path)
    torch.save({"random": np.random.get_state()}, path)  # finds weights_only_refuses_other_types
    torch.save({"rows": torch.from_numpy(np.ones(3)), "most": np.inf}, path)
