import torch

from tests.diagnose.setups.optimizer_after_the_load import only_the_model
from tests.diagnose.trainers import trainer


def without_the_scheduler():
    names = trainer()
    parts = [names["model"], names["optimizer"]]

    def save(path):
        torch.save([part.state_dict() for part in parts], path)

    def load(path):
        for part, state in zip(parts, torch.load(path)):
            part.load_state_dict(state)

    return names | {"save": save, "load": load}


OUTCOMES = [[trainer], [without_the_scheduler, only_the_model]]
