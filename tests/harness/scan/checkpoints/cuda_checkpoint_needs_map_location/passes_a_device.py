import argparse

import torch


def predicts(model, path, device):
    model.load_state_dict(torch.load(path))  # finds cuda_checkpoint_needs_map_location
    return model.to(device)


parser = argparse.ArgumentParser()
parser.add_argument("--device", default="cuda")
predicts(torch.nn.Linear(2, 2), "model.pt", "cuda:0")
predicts(torch.nn.Linear(2, 2), "model.pt", parser.parse_args().device)
