import os

import torch
from nets import Net

PATH = "net.pt"
net = Net()
FEATURES = "features.pt"
if os.path.exists(FEATURES):
    features = torch.load(FEATURES)
torch.save(net.features, FEATURES)
if os.path.exists(PATH):
    net.load(PATH)  # finds resume_without_optimizer_state
if os.path.exists("vectors.pt"):
    net.load("vectors.pt")
adam = torch.optim.Adam(net.parameters())
for epoch in range(9):
    for x, y in net.loader():
        net(x, y).backward()
        adam.step()
        adam.zero_grad()
    net.save(PATH)
