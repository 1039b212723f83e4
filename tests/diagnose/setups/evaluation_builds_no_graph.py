from tests.diagnose.setups.what_holds_a_graph import evaluation_keeps_its_graphs
from tests.diagnose.trainers import trainer


def forward_is_called_by_name():
    names = trainer()

    def evaluate(model, loader):
        return sum(model.forward(x).detach().sum() for x, _ in loader)

    return names | {"evaluate": evaluate}


OUTCOMES = [[trainer], [evaluation_keeps_its_graphs], [forward_is_called_by_name]]
