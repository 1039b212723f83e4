import os

import torch

device = "cuda" if torch.cuda.is_available() else "cpu"
os.environ["CUDA_VISIBLE_DEVICES"] = "3"  # finds gpu_is_missing
os.environ["CUDA_VISIBLE_DEVICES"] = "0,1"
os.environ["OMP_NUM_THREADS"] = "4"


def moves(x):
    return x.to(device)


def moves_in_a_branch(x):
    if device != "cpu":
        x = x.cuda()
    return x


def returns_before(x):
    if not torch.cuda.is_available():
        return x
    return x.cuda()


def checks(x):
    assert torch.cuda.is_available()
    return x.cuda()


def tries(x):
    try:
        return x.cuda()
    except RuntimeError:
        return x


def moves_always(x):
    return x.cuda()  # finds gpu_is_missing


def moves_again(x):
    return x.to("cuda")
