from tests.diagnose.setups.evaluate_on_the_training_data import batchnorm_never_learns
from tests.diagnose.trainers import Net, rows, trained


class Softmax(Net):
    def forward(self, x):
        output = super().forward(x)
        return output if self.training else output.softmax(1)


def one_batch_has_a_nan():
    names = trained()
    x, _ = rows(16).tensors
    x[0, 0] = float("nan")
    names["model"](x)
    return names


def softmax_in_eval_mode():
    return trained(model=Softmax())


OUTCOMES = [
    [trained],
    [batchnorm_never_learns, one_batch_has_a_nan],
    [softmax_in_eval_mode],
]
