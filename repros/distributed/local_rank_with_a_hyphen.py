# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "torch.distributed.launch passes --local-rank, and a script with --local_rank rejects it"
# kind = "error"
# symptom = "unrecognized arguments: --local-rank=1|^rank 1 has the local rank 0"
# messages = ["unrecognized arguments: --local-rank=\\d{1,3}\\b"]
# elsewhere = ["unrecognized arguments: --local_rank=\\d{1,3}\\b"]
# origin = "design"
# reports = [
#     "https://github.com/huggingface/pytorch-image-models/issues/1728",
#     "https://github.com/skycrapers/TecoGAN-PyTorch/issues/31",
#     "https://github.com/babylm/baseline-pretraining/issues/2",
#     "https://github.com/microsoft/LoRA/issues/79",
# ]
# documents = [
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/distributed/run.py",
#     "https://docs.pytorch.org/docs/stable/elastic/run.html",
# ]
# wrong = '''
# parser.add_argument("--local_rank", type=int, default=0)
# arguments = parser.parse_args()
# '''
# right = '''
# import os
# default = int(os.environ.get("LOCAL_RANK", 0))  # torchrun sets only the variable
# parser.add_argument("--local_rank", "--local-rank", type=int, default=default)
# arguments = parser.parse_args()
# '''
# rule = "warning"
# when = "torch.distributed.launch of torch 2.0 or newer starts the script"
# affected = { cpu = ">=2.0", cuda = ">=2.0" }
# ///
"""After an upgrade to torch 2, the script prints its usage and exits with status 2, on every rank.
The user did not pass the argument that the script rejects.

python -m torch.distributed.launch adds the argument to the script's command line. Up to torch 1.13,
the argument was --local_rank, and since torch 2.0, it is --local-rank (torch/distributed/run.py).
In argparse, the two spellings are different options, but the value of either is stored in
arguments.local_rank.

torchrun adds no argument, and only sets the variable LOCAL_RANK (docs: torchrun). Replacing the
launcher with torchrun, as in huggingface/pytorch-image-models#1728, avoids the error. However, a
script that reads only its argument then runs every rank on GPU 0. The corrected code works with
torchrun and with both spellings. If the script uses -1 for a run without a launcher, write -1
instead of 0.
"""

import argparse
import contextlib
import io
import os
import sys
from unittest import mock

from torch.distributed import launch, run


def arguments_of(launcher):
    """The arguments that the launcher passes to the script, with the local rank filled in."""
    given = launcher.parse_args(["--nproc_per_node=1", "train.py", "--epochs=9"])
    _, _, command = run.config_from_args(given)
    return [word.replace("${local_rank}", "1") for word in command[command.index("train.py") + 1 :]]


def start_rank_1(launcher, parse):
    argv, output = ["train.py", *arguments_of(launcher)], io.StringIO()
    parser = argparse.ArgumentParser("train.py")
    parser.add_argument("--epochs", type=int)
    try:
        with (
            mock.patch.dict(os.environ, LOCAL_RANK="1"),  # both launchers set it
            mock.patch.object(sys, "argv", argv),
            contextlib.redirect_stderr(output),
        ):
            arguments = parse(parser)
    except SystemExit:
        return output.getvalue()
    if vars(arguments) != {"epochs": 9, "local_rank": 1}:
        return f"rank 1 has the local rank {arguments.local_rank}"


def underscore(parser):
    parser.add_argument("--local_rank", type=int, default=0)
    arguments = parser.parse_args()
    return arguments


def either(parser):
    default = int(os.environ.get("LOCAL_RANK", 0))  # torchrun sets only the variable
    parser.add_argument("--local_rank", "--local-rank", type=int, default=default)
    arguments = parser.parse_args()
    return arguments


def reproduce(device):
    return start_rank_1(launch, underscore)


def control(device):
    return start_rank_1(launch, either) or start_rank_1(run, either)


def popular_fix(device):
    return start_rank_1(run, underscore)


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control, popular_fix):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
