import argparse

import torch
from torch import optim

parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default=0.1)
args = parser.parse_args()


def continues(model, checkpoint):
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
    optimizer.load_state_dict(checkpoint["optimizer"])  # finds loaded_rate_replaces_the_new
    return optimizer


def continues_with_a_name(model, checkpoint):
    lr = args.lr
    optimizer = optim.Adam(model.parameters(), lr)
    model.load_state_dict(checkpoint["model"])
    optimizer.load_state_dict(checkpoint["optimizer"])  # finds loaded_rate_replaces_the_new
    return optimizer


def continues_at_a_fixed_rate(model, checkpoint):
    optimizer = optim.Adam(model.parameters(), lr=1e-3)
    optimizer.load_state_dict(checkpoint["optimizer"])
    return optimizer


def continues_with_a_parameter(model, checkpoint, lr):
    optimizer = optim.Adam(model.parameters(), lr=lr)
    optimizer.load_state_dict(checkpoint["optimizer"])  # finds loaded_rate_replaces_the_new
    return optimizer
