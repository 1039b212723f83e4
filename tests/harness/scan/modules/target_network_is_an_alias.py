import copy

import torch
from torch import nn


class QNetwork(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 2)


class Agent:
    def __init__(self, device):
        self.q_net = QNetwork().to(device)
        self.target_net = self.q_net  # finds target_network_is_an_alias
        self.twin_target = copy.deepcopy(self.q_net)


def trains(loader):
    policy = nn.Sequential(nn.Linear(4, 2))
    target_policy = policy  # finds target_network_is_an_alias
    for x, label in loader:
        target = label
        new_target = target
    return target_policy, new_target


def copies():
    net = QNetwork()
    target_net = QNetwork()
    target_net.load_state_dict(net.state_dict())
    old_target_net = target_net
    return old_target_net
