import torch
from torch.optim.lr_scheduler import ReduceLROnPlateau, StepLR


class Trainer:
    def __init__(self, optimizer, args):
        self.scheduler = None
        if args.schedule == "plateau":
            self.scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer)
        else:
            self.scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 10)

    def end_of_epoch(self, verbose):
        if verbose:
            print("next epoch")
        self.scheduler.step()  # finds plateau_needs_a_metric


def with_a_metric(loss, optimizer):
    scheduler = ReduceLROnPlateau(optimizer)
    scheduler.step(loss)
    scheduler.step(metrics=loss)


def with_a_case_for_it(loss, optimizer, plateau):
    scheduler = ReduceLROnPlateau(optimizer) if plateau else StepLR(optimizer, 3)
    if plateau:
        scheduler.step(loss)
    else:
        scheduler.step()


def with_a_case_by_type(loss, optimizer, args):
    if args.plateau:
        scheduler = ReduceLROnPlateau(optimizer)
    else:
        scheduler = StepLR(optimizer, 3)
    if isinstance(scheduler, ReduceLROnPlateau):
        scheduler.step(loss)
    else:
        scheduler.step()


def with_the_case_of_its_making(loss, optimizer, args):
    if args.plateau:
        scheduler = ReduceLROnPlateau(optimizer)
    else:
        scheduler = StepLR(optimizer, 3)
    if not args.plateau:
        scheduler.step()


def with_a_flag_set_beside_it(loss, optimizer, args):
    if args.schedule == "plateau":
        scheduler = ReduceLROnPlateau(optimizer)
        wants_metric = True
    else:
        scheduler = StepLR(optimizer, 3)
        wants_metric = False
    if wants_metric:
        scheduler.step(loss)
    else:
        scheduler.step()


class KeepsItsCase:
    def __init__(self, optimizer, plateau):
        self.by_metric = plateau
        if plateau:
            self.scheduler = ReduceLROnPlateau(optimizer)
        else:
            self.scheduler = StepLR(optimizer, 10)

    def end_of_epoch(self, metric):
        if self.by_metric:
            self.scheduler.step(metric)
        else:
            self.scheduler.step()


def with_an_early_way_out(losses, optimizer, plateau):
    if plateau:
        scheduler = ReduceLROnPlateau(optimizer)
    else:
        scheduler = StepLR(optimizer, 3)
    for loss in losses:
        if plateau:
            scheduler.step(loss)
            continue
        scheduler.step()


def one_epoch(model, loader, optimizer):
    for x in loader:
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()


def on_a_plateau(model, loader, optimizer):
    scheduler = ReduceLROnPlateau(optimizer, patience=3)
    for epoch in range(90):
        one_epoch(model, loader, optimizer)
        scheduler.step()  # finds plateau_needs_a_metric
