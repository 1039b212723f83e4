"""The command lines of three launchers, and of none, on rank 1."""

import argparse
import os
import sys
from unittest import mock

SETTINGS = ("plain",)


def parsed(parser):
    paste
    return arguments


def parse(words, variable):
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=0.1)
    rest = {name: value for name, value in os.environ.items() if name != "LOCAL_RANK"}
    with (
        mock.patch.object(sys, "argv", ["train.py", *words]),
        mock.patch.dict(os.environ, rest | variable, clear=True),
    ):
        arguments = parsed(parser)
    return arguments.lr, arguments.local_rank


def place(t):
    on_rank_1 = {"LOCAL_RANK": "1"}
    return [
        parse(["--local-rank=1", "--lr", "0.5"], on_rank_1),
        parse(["--local_rank=1"], on_rank_1),
        parse(["--local_rank", "1"], {}),
        parse(["--lr=0.2"], on_rank_1),
        parse([], {}),
    ]


def reference(t):
    return [(0.5, 1), (0.1, 1), (0.1, 1), (0.2, 1), (0.1, 0)]
