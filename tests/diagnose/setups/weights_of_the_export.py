import copy

from tests.diagnose.trainers import Net, trained, trainer


def exported_before_training():
    return trained(exported=Net().eval())


def a_function():
    names = trainer()
    model = copy.deepcopy(names["model"]).eval()
    return names | {"exported": lambda x: model(x)}


OUTCOMES = [[trainer], [exported_before_training], [a_function]]
