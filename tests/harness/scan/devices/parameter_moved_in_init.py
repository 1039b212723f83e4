import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, device):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(3)).to(device)  # finds parameter_moved_in_init
        self.shift = torch.nn.Parameter(torch.ones(3)).cuda()  # finds parameter_moved_in_init
        self.right = nn.Parameter(torch.ones(3).to(device))
        self.table = torch.ones(3).to(device)
