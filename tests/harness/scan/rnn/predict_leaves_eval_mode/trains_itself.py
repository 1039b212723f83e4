import torch
from torch import nn


class TrainsItself(nn.Module):
    def fit(self, loader, optimizer, epochs):
        optimizer = torch.optim.Adam(self.parameters())
        for epoch in range(epochs):
            self.train()
            for x in loader:
                optimizer.zero_grad()
                self(x).sum().backward()
                optimizer.step()
            self.eval()
            print(self(x))
