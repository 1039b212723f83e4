from tests.diagnose.trainers import Net, trainer


class Checks(Net):
    def forward(self, x):
        for row in x:
            if row.isnan().any():
                raise ValueError
        return super().forward(x)


def checks_every_row():
    return trainer(model=Checks())


def counts_every_sample():
    names = trainer()

    def train_step(x, y):
        names["train_step"](x, y)
        return sum(row.argmax().item() == label.item() for row, label in zip(x, y))

    return names | {"train_step": train_step}


OUTCOMES = [[trainer], [checks_every_row, counts_every_sample]]
