# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A GPU number from the command line is a string, which torch does not accept as a device"
# kind = "error"
# symptom = "Invalid device string: '0'"
# messages = ["Invalid device string: '[^']{0,60}'"]
# elsewhere = ['Invalid device string: \S{1,60}']
# origin = "usage"
# reports = [
#     "https://github.com/AshwinRJ/Federated-Learning-PyTorch/issues/28",
#     "https://github.com/EleutherAI/lm-evaluation-harness/issues/400",
# ]
# documents = [
#     "https://docs.pytorch.org/docs/stable/tensor_attributes.html",
#     "https://github.com/samsledje/ConPLex/issues/34",
#     "https://github.com/mjhydri/BeatNet/issues/1",
# ]
# wrong = '''
# device = torch.device(args.gpu)  # "0"
# '''
# right = '''
# device = torch.device("cuda", int(args.gpu))
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The program is started with --gpu 0 or --device 0 (EleutherAI/lm-evaluation-harness#400).

A command-line argument is a string unless the parser converts it, and a string must begin with a
type, as in "cuda:0" (docs: torch.device). Only an int is read as the number of a GPU
(AshwinRJ/Federated-Learning-PyTorch#28): use type=int in add_argument(). Torch does not accept a
negative number, such as -1 for the CPU: test for negative numbers first, and use "cpu" for them.

The message quotes the string that torch received. For example, 'cuda:cuda:0' contains the type
twice (samsledje/ConPLex#34), and 'cuda:cpu' contains the name of another device
(mjhydri/BeatNet#1). Do not put "cuda:" in front of a string that already names a device. 'cuda0'
lacks the colon. A device is a single GPU: instead of passing '0,1', set CUDA_VISIBLE_DEVICES=0,1
before the start. Torch then numbers the GPUs in this list from 0.
"""

import argparse

import torch


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gpu", default="0")
    return parser.parse_args([])


def reproduce(device):
    args = parse()
    try:
        device = torch.device(args.gpu)  # "0"
    except RuntimeError as error:
        return str(error)
    return f"the device is {device}"


def control(device):
    args = parse()
    device = torch.device("cuda", int(args.gpu))
    if (device.type, device.index) != ("cuda", 0):
        return f"the device is {device}"


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
