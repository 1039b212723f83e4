import torch.nn as nn


class Indented(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 2)

        def forward(self, x):  # finds forward_is_misspelt
            return self.layer(x)


class Replaced(nn.Module):
    def __init__(self, old):
        super().__init__()

        def forward(x):
            return old(x)

        self.forward = forward


class Right(nn.Module):
    def __init__(self):
        super().__init__()
        self._init_()

    def _init_(self):
        self.layer = nn.Linear(2, 2)

    def __int__(self):
        return 3

    def forward(self, x):
        return self.forwards(x)

    def forwards(self, x):
        return self.layer(x)


class Rewarded(nn.Module):
    def reward(self, x):
        return x

    def forward_(self, x):
        return x


class Misspelt(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 2)

    def foward(self, x):  # finds forward_is_misspelt
        return self.layer(x)


class Capital(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 2)

    def Forward(self, x):  # finds forward_is_misspelt
        return self.layer(x)
