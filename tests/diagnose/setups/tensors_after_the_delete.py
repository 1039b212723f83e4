import torch

from tests.diagnose.trainers import trainer


def kept_in_a_list():
    return trainer() | {"outputs": [torch.empty(30_000_000)]}


def kept_by_an_exception():
    def fail():
        batch = torch.empty(30_000_000)
        raise RuntimeError(f"{len(batch)} rows are too many")

    try:
        fail()
    except RuntimeError as error:
        return trainer() | {"error": error}


OUTCOMES = [[trainer], [kept_in_a_list, kept_by_an_exception]]
