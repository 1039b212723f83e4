from tests.diagnose.trainers import Net, NewShapes, clock, rows, trainer


class Busy(Net):
    """Takes some seconds for each call, and some for each sample."""

    def __init__(self, call, sample):
        super().__init__()
        self.seconds = call, sample

    def forward(self, x):
        call, sample = self.seconds
        clock.sleep(call + sample * len(x))
        return super().forward(x)


def computes():
    return trainer(model=Busy(0.001, 0.01))


def prepares():
    return trainer(model=NewShapes(seconds=3))


def starts_operations():
    return trainer(model=Busy(0.01, 1e-5))


class SlowForStrides(Busy):
    def forward(self, x):
        clock.sleep(0 if x.is_contiguous() else 1)
        return super().forward(x)


def transposed_input():
    x, y = rows(16).tensors
    model = SlowForStrides(0.001, 0.01)
    return trainer(model=model, loader=[(x.T.contiguous().T, y)])


OUTCOMES = [[computes], [prepares], [starts_operations], [transposed_input]]
