import torch.nn as nn


class Net(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.head = nn.Sequential(
            nn.Linear(8192, 100),
            nn.Linear(100, 1),  # finds no_activation_between_layers
        )
        self.wide = nn.Sequential(
            nn.Linear(size, size), nn.Linear(size, 3)  # finds no_activation_between_layers
        )
        self.narrow = nn.Sequential(nn.Linear(512, 8), nn.Linear(8, 512))
        self.right = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
