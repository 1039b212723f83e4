from tests.diagnose.setups.live_tensors_per_step import losses_are_kept
from tests.diagnose.trainers import trainer


def evaluation_keeps_its_graphs():
    names = trainer()
    outputs = []

    def evaluate(model, loader):
        model.eval()
        outputs.extend(model(x) for x, _ in loader)
        return 0.0

    return names | {"evaluate": evaluate}


OUTCOMES = [[trainer], [losses_are_kept, evaluation_keeps_its_graphs]]
