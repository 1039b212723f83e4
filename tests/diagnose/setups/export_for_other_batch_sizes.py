import copy

from tests.diagnose.trainers import Net, trainer


def _exported(change):
    names = trainer()
    model = copy.deepcopy(names["model"]).eval()
    return names | {"exported": lambda x: change(model, x)}


def view_is_fixed():
    return _exported(lambda model, x: model(x.view(16, 8)))


def length_is_fixed():
    return _exported(lambda model, x: model(x) * len(x) / 16)


def exported_before_training():
    return trainer(exported=Net().eval())


OUTCOMES = [[trainer], [view_is_fixed], [length_is_fixed], [exported_before_training]]
