import torch


def save_net(net, path):
    torch.save(net, path)


def load_net(path):
    return torch.load(path)  # finds weights_only_refuses_other_types


def load_scores(path):
    return torch.load(path)
