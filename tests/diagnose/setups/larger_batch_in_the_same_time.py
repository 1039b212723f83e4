from tests.diagnose.trainers import Net, clock, trainer


class Busy(Net):
    def forward(self, x):
        clock.sleep(0.004 * len(x))
        return super().forward(x)


class Loops(Net):
    def forward(self, x):
        clock.sleep(0.02)
        return super().forward(x)


def computes():
    return trainer(model=Busy())


def starts_operations():
    return trainer(model=Loops())


OUTCOMES = [[computes], [starts_operations]]
