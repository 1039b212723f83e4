from tests.diagnose.trainers import trainer


class Result:
    def __init__(self, output):
        self.output = output
        self.callback = self.loss  # refers to itself

    def loss(self):
        return self.output.sum()


def results_refer_to_themselves():
    names = trainer()

    def train_step(x, y):
        names["train_step"](x, y)
        Result(names["model"](x)).callback().backward()

    return names | {"train_step": train_step}


OUTCOMES = [[trainer], [results_refer_to_themselves]]
