# ruff: noqa
import torch
import torch.nn as nn
from torch.nn import Linear
from .blocks import Block


class Late(nn.Module):
    def __init__(self, width):
        self.width = width
        self.layer = Linear(width, 2)  # finds layer_before_super_init
        super().__init__()


class Never(nn.Module):
    def __init__(self):
        self.scale = nn.Parameter(torch.ones(1))  # finds layer_before_super_init


class Early(nn.Module):
    def __init__(self, width):
        self.width = width
        nn.Module.__init__(self)
        self.layer = nn.Linear(width, 2)


class InAnotherMethod(nn.Module):
    def __init__(self):
        self.begin()
        self.layer = nn.Linear(2, 2)

    def begin(self):
        super().__init__()


class Mixed(Block):
    def __init__(self):
        self.layer = nn.Linear(2, 2)


class Trainer:
    def __init__(self):
        self.model = nn.Linear(2, 2)
        super().__init__()
