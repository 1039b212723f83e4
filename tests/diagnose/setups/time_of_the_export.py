from tests.diagnose.trainers import Net, clock, trainer


class Busy(Net):
    def forward(self, x):
        clock.sleep(0.02)
        return super().forward(x)


class Compiled(Busy):
    """Needs 3 s for each new shape."""

    def __init__(self):
        super().__init__()
        self.shapes = set()

    def forward(self, x):
        if x.shape not in self.shapes:
            self.shapes.add(x.shape)
            clock.sleep(3)
        return super().forward(x)


class OnAnotherDevice(Busy):
    def forward(self, x):
        clock.sleep(0.1)
        return super().forward(x)


def exported():
    return trainer(model=Busy())


def compiled_for_each_shape():
    return trainer(model=Busy(), exported=Compiled().eval())


def on_another_device():
    return trainer(model=Busy(), exported=OnAnotherDevice().eval())


OUTCOMES = [[exported], [on_another_device], [compiled_for_each_shape]]
