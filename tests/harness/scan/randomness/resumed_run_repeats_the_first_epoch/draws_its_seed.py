import numpy as np
import torch
from torch.utils.data import DataLoader


def main(args, model, data):
    seed = np.random.randint(1, 10000)
    torch.manual_seed(seed)
    loader = DataLoader(data, shuffle=True)
    start_epoch = 0
    if args.resume:
        saved = torch.load(args.resume, map_location="cpu")
        model.load_state_dict(saved["model"])
        start_epoch = saved["epoch"]
    for epoch in range(start_epoch, 10):
        for x in loader:
            model(x).backward()
