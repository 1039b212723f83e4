"""Two numbers of GPUs, as strings and as integers. No GPU is used."""

import argparse

import torch

SETTINGS = ("plain",)


def place(t):
    devices = []
    for gpu in ("0", "1", 1):
        args = argparse.Namespace(gpu=gpu)
        paste
        devices.append([device.type, device.index, str(device)])
    return devices


def reference(t):
    return [["cuda", 0, "cuda:0"], ["cuda", 1, "cuda:1"], ["cuda", 1, "cuda:1"]]
