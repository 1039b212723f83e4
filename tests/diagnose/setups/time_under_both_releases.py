import json

from tests.diagnose.trainers import Net, clock, trainer

FILES = True


class Timed(Net):
    """A step takes some seconds, and each step a little more than the one before."""

    def __init__(self, seconds, more=0):
        super().__init__()
        self.seconds, self.more = seconds, more

    def forward(self, x):
        clock.sleep(self.seconds)
        self.seconds += self.more
        return super().forward(x)


def _first(seconds):
    with open("times.json", "w") as file:
        json.dump(["2.0.1", seconds, seconds], file)


def as_fast():
    _first(0.1)
    return trainer(model=Timed(0.1))


def slower():
    _first(0.1)
    return trainer(model=Timed(0.2))


def becomes_slower():
    _first(0.1)
    return trainer(model=Timed(0.1, more=0.01))


def faster():
    _first(0.2)
    return trainer(model=Timed(0.1))


def first_release():
    return trainer(model=Timed(0.1))


OUTCOMES = [[as_fast], [slower, becomes_slower, faster], [first_release]]
