from tests.diagnose.trainers import Net, NewShapes, clock, trainer


class Busy(Net):
    def forward(self, x):
        clock.sleep(0.02)
        return super().forward(x)


class Compiled(NewShapes, Busy):
    """Compiles for each new shape, and then runs like Busy."""


class OnAnotherDevice(Busy):
    def forward(self, x):
        clock.sleep(0.1)
        return super().forward(x)


def exported():
    return trainer(model=Busy())


def compiled_for_each_shape():
    return trainer(model=Busy(), exported=Compiled(seconds=3).eval())


def on_another_device():
    return trainer(model=Busy(), exported=OnAnotherDevice().eval())


OUTCOMES = [[exported], [on_another_device], [compiled_for_each_shape]]
