from torch import nn
from torchvision import models


class Frozen(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = models.resnet18(pretrained=True)
        self.net.requires_grad_(False)

    def train(self, mode=True):
        return super().train(False)


Frozen().train()
