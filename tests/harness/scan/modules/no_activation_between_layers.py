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


class Regressor(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.first = nn.Linear(size, size)
        self.second = nn.Linear(size, 8)
        self.third = nn.Linear(8, 8)
        self.last = nn.Linear(8, 1)
        self.drop = nn.Dropout(0.1)
        self.act = nn.ReLU()
        self.lora_a = nn.Linear(size, size)
        self.lora_b = nn.Linear(size, size)

    def forward(self, x):
        x = self.drop(self.first(x))
        x = self.second(x)  # finds no_activation_between_layers
        x = self.act(self.third(self.act(x)))
        x = self.last(x)
        return self.last(self.third(x)) + self.lora_b(self.lora_a(x))  # finds no_activation_between_layers


class Autoencoder(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.inward = nn.Linear(size, 2)
        self.outward = nn.Linear(2, size)

    def forward(self, x):
        z = self.inward(x)
        return self.outward(z), z


class Vectors(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.first = nn.Linear(size, size)
        self.second = nn.Linear(size, size)

    def forward(self, x):
        h = self.first(x)
        return self.second(h) * h.norm(dim=-1, keepdim=True)
