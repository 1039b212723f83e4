# Read as text by the tests of the rules, never run: what a script does not name is not run.
import argparse

import torch
from models import Net


def load(path):
    model = Net()
    model.load_state_dict(torch.load(path), strict=False)  # finds strict_false_loads_nothing
    return model


def old_load(path):
    model = Net()
    model.load_state_dict(torch.load(path), strict=False)
    return model


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--weights")
    load(parser.parse_args().weights)
