import torch.nn as nn


class Misspelt(nn.Module):
    def _init_(self):  # finds init_is_misspelt
        super()._init_()
        self.layer = nn.Linear(2, 2)

    def foward(self, x):  # finds forward_is_misspelt
        return self.layer(x)


class Integer(nn.Module):
    def __int__(self):  # finds init_is_misspelt
        super().__int__()
        self.layer = nn.Linear(2, 2)

    def Forward(self, x):  # finds forward_is_misspelt
        return self.layer(x)
