import torch
from torch.optim.lr_scheduler import CosineAnnealingWarmRestarts, LambdaLR, OneCycleLR, StepLR


def trains(model, optimizer, epochs, run_epoch):
    scheduler = LambdaLR(optimizer, lambda epoch: 0.9**epoch)
    for epoch in range(epochs):
        if run_epoch(model, optimizer) > 1:
            for group in optimizer.param_groups:
                group["lr"] *= 0.1  # finds rate_set_by_hand_is_overwritten
        scheduler.step()


def adjust_rate(optimizer, rate):
    for param_group in optimizer.param_groups:
        param_group["lr"] = rate  # finds rate_set_by_hand_is_overwritten


class Trainer:
    def __init__(self, model, steps):
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        self.scheduler = OneCycleLR(self.optimizer, max_lr=0.1, total_steps=steps)

    def run(self, loader):
        for x in loader:
            adjust_rate(self.optimizer, 0.01)
            self.step(x)
            self.scheduler.step()


def keeps(model, optimizer, epochs, run_epoch):
    scheduler = StepLR(optimizer, 10)
    for epoch in range(epochs):
        if run_epoch(model, optimizer) > 1:
            for group in optimizer.param_groups:
                group["lr"] *= 0.1
        scheduler.step()


def before_the_scheduler(optimizer, epochs, run_epoch):
    for group in optimizer.param_groups:
        group["lr"] = 0.01
    scheduler = LambdaLR(optimizer, lambda epoch: 0.9**epoch)
    for epoch in range(epochs):
        run_epoch(optimizer)
        scheduler.step()


def warms_up(optimizer, epochs, run_epoch):
    scheduler = CosineAnnealingWarmRestarts(optimizer, 10)
    for epoch in range(epochs):
        run_epoch(optimizer)
        if epoch < 5:
            for group in optimizer.param_groups:
                group["lr"] = 0.01 * epoch
        else:
            scheduler.step()


def of_another_optimizer(first, second, epochs, run_epoch):
    scheduler = LambdaLR(first, lambda epoch: 0.9**epoch)
    for epoch in range(epochs):
        run_epoch(first, second)
        for group in second.param_groups:
            group["lr"] = 0.01
        scheduler.step()
