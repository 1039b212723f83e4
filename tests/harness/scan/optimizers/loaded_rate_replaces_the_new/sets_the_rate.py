import argparse

from torch import optim

parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default=0.1)
args = parser.parse_args()


def continues(model, checkpoint):
    optimizer = optim.SGD(model.parameters(), lr=args.lr)
    optimizer.load_state_dict(checkpoint["optimizer"])
    for group in optimizer.param_groups:
        group["lr"] = args.lr
    return optimizer
