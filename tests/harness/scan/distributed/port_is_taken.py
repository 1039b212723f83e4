import os

import torch.distributed as dist


def start(rank, size):
    os.environ["MASTER_ADDR"] = "localhost"
    os.environ["MASTER_PORT"] = "12355"  # finds port_is_taken
    dist.init_process_group("nccl", rank=rank, world_size=size)


def start_at_once(rank, size):
    os.environ["MASTER_ADDR"], os.environ["MASTER_PORT"] = "::1", "29500"  # finds port_is_taken
    dist.init_process_group("gloo", rank=rank, world_size=size)


def start_at_an_address(rank, size):
    dist.init_process_group(  # finds port_is_taken
        backend="nccl", init_method="tcp://127.0.0.1:3456", world_size=size, rank=rank
    )


def start_from_a_number(rank, size):
    port = 6006
    os.environ["MASTER_PORT"] = str(port)  # finds port_is_taken


def start_on_a_chosen_port(rank, size, port):
    os.environ["MASTER_PORT"] = str(port)
    os.environ.setdefault("MASTER_PORT", "29500")
    if "MASTER_PORT" not in os.environ:
        os.environ["MASTER_PORT"] = "29500"
    dist.init_process_group("nccl", init_method=f"tcp://localhost:{port}", rank=rank)


def start_from_a_launcher():
    dist.init_process_group("nccl", init_method="env://")


def test_start():
    os.environ["MASTER_PORT"] = "12355"
