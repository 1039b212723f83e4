import torch

from tests.diagnose.trainers import Net, trainer


def _rate(rate):
    model = Net()
    return trainer(model=model, optimizer=torch.optim.SGD(model.parameters(), lr=rate))


def in_proportion():
    return _rate(0.1 * 16 / 256)


def large_batch_at_a_small_rate():
    return _rate(0.001)


def small_batch_at_the_same_rate():
    return _rate(0.1)


OUTCOMES = [[in_proportion], [large_batch_at_a_small_rate], [small_batch_at_the_same_rate]]
