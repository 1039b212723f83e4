import torch
from torch.utils.data import DataLoader

model = torch.nn.Linear(1, 1)
saved = torch.load("last.pt", map_location="cpu")
model.load_state_dict(saved["model"])
start_epoch = saved["epoch"]
torch.manual_seed(1000 + start_epoch)
for epoch in range(start_epoch, 10):
    for x in DataLoader(range(3), shuffle=True):
        model(x).backward()
