import torch
from torch.utils.data import DataLoader

torch.manual_seed(0)
model = torch.nn.Linear(1, 1)
saved = torch.load("last.pt", map_location="cpu")
model.load_state_dict(saved["model"])
torch.set_rng_state(saved["rng_state"])
for epoch in range(saved["epoch"], 10):
    for x in DataLoader(range(3), shuffle=True):
        model(x).backward()
