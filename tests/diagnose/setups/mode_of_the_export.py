import copy

from tests.diagnose.trainers import Net, trained


def exported_in_train_mode():
    names = trained()
    return names | {"exported": copy.deepcopy(names["model"]).train()}


def now():
    names = trained()
    return names | {"exported": copy.deepcopy(names["model"]).eval()}


def exported_before_training():
    return trained(exported=Net().eval())


def other_branch():
    names = trained()
    model = copy.deepcopy(names["model"]).eval()
    return names | {"exported": lambda x: model(x).softmax(1)}


OUTCOMES = [[now], [exported_in_train_mode], [exported_before_training, other_branch]]
