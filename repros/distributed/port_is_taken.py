# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A second training run on the same machine cannot start because the address is already in use"
# kind = "error"
# symptom = "[Aa]ddress already in use"
# messages = [
#     "server socket has failed to listen on any local network address.{0,120}?[Aa]ddress already in use",
#     "name: EADDRINUSE, message: address already in use",
#     "server socket has failed to bind to .{1,80}?Address already in use",
# ]
# elsewhere = [
#     "server socket has failed to listen on .{1,80}?Address already in use",
#     "RuntimeError: Address already in use",
# ]
# origin = "design"
# reports = [
#     "https://github.com/meta-pytorch/torchtune/issues/1025",
#     "https://github.com/openseg-group/openseg.pytorch/issues/100",
#     "https://github.com/facebookresearch/XLM/issues/53",
# ]
# documents = ["https://docs.pytorch.org/docs/stable/elastic/run.html"]
# wrong = '''
# os.environ["MASTER_ADDR"], os.environ["MASTER_PORT"] = "localhost", "29500"
# '''
# right = '''
# import socket
# with socket.socket() as probe:  # where the ranks are started; not in setup(rank), no torchrun
#     probe.bind(("localhost", 0))  # any free port
#     port = probe.getsockname()[1]
# os.environ["MASTER_ADDR"], os.environ["MASTER_PORT"] = "localhost", str(port)
# '''
# rule = "note"
# when = "another run on the same machine uses this port"
# affected = { cpu = ">=1.13", cuda = ">=1.13" }
# platform = "linux"
# ///
"""Rank 0 of every training run listens on MASTER_PORT, which launchers set to 29500 by default
(torch/distributed/run.py). The port is taken if another run is active on the same machine, or if
processes of a crashed run are still alive.

Binding to port 0 asks the system for a free port. All ranks need the same port, so the program that
starts the ranks asks for the port under __main__, and the ranks inherit MASTER_ADDR and
MASTER_PORT. Remove any lines in setup(rank) that set these variables again. Do not move the
corrected code to setup(rank), or to the top level of a file that spawned ranks import. Each rank
would then choose its own port and wait there in vain.

Do not use the corrected code under torchrun: each rank runs __main__ there, so the ranks would wait
in vain too. Instead, torchrun --standalone picks a free port. The option
--rdzv_endpoint=localhost:0 also needs --rdzv_backend=c10d; otherwise the ranks wait for port 0.
"""

import os
import socket

import torch.distributed as dist
from torch.distributed import TCPStore


def second_training(choose_port):
    before = dict(os.environ)
    first = TCPStore("localhost", 0, is_master=True)
    try:
        choose_port(first)
        dist.init_process_group("gloo", rank=0, world_size=1)
    except RuntimeError as error:
        return str(error)
    finally:
        os.environ.clear()
        os.environ.update(before)
    dist.destroy_process_group()


def same(first):
    os.environ["MASTER_ADDR"], os.environ["MASTER_PORT"] = "localhost", str(first.port)


def free(first):
    with socket.socket() as probe:  # under __main__, where the ranks start; not in setup(rank)
        probe.bind(("localhost", 0))  # any free port
        port = probe.getsockname()[1]
    os.environ["MASTER_ADDR"], os.environ["MASTER_PORT"] = "localhost", str(port)


def reproduce(device):
    return second_training(same)


def control(device):
    return second_training(free)


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
