import torch

from tests.diagnose.trainers import Net, clock, rows, trainer


class Timed(Net):
    def __init__(self, forward, backward):
        super().__init__()
        self.seconds = forward, backward

    def forward(self, x):
        clock.sleep(self.seconds[0])
        output = super().forward(x)
        output.register_hook(lambda grad: clock.sleep(self.seconds[1]))
        return output


class SlowCopy(torch.Tensor):
    def to(self, device):
        clock.sleep(1)
        return self.as_subclass(torch.Tensor)


class SlowStep(torch.optim.SGD):
    def step(self):
        clock.sleep(1)
        super().step()


def backward_takes_twice_as_long():
    return trainer(model=Timed(0.01, 0.02))


def slow_backward():
    return trainer(model=Timed(0.01, 0.2))


def slow_copy():
    loader = [[part.as_subclass(SlowCopy) for part in rows(16).tensors]]
    return trainer(model=Timed(0.01, 0.02), loader=loader)


def slow_update():
    model = Timed(0.01, 0.02)
    return trainer(model=model, optimizer=SlowStep(model.parameters(), lr=0.1))


OUTCOMES = [[backward_takes_twice_as_long], [slow_backward], [slow_copy], [slow_update]]
