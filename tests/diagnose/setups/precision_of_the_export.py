import copy

import torch

from tests.diagnose.trainers import Net, trainer


def _half(model):
    half = copy.deepcopy(model).eval().bfloat16()
    return lambda x: half(x.bfloat16()).float()


class Rounds(Net):
    def forward(self, x):
        output = super().forward(x)
        return output if x.dtype == torch.float64 else output.bfloat16().float()


def bfloat16():
    names = trainer()
    return names | {"exported": _half(names["model"])}


def exported_before_training():
    return trainer(exported=Net().eval())


def model_is_less_precise():
    model = Rounds()
    exact = copy.deepcopy(model).double().eval()
    return trainer(model=model, exported=lambda x: exact(x.double()).float())


OUTCOMES = [[trainer], [bfloat16], [exported_before_training], [model_is_less_precise]]
