"""Places that rules/schedulers.py finds, as marked, and places that it has to leave alone."""
# ruff: noqa: B007, SIM108

import pytorch_lightning as pl
import torch
from torch.optim import SGD
from torch.optim.lr_scheduler import CosineAnnealingLR, OneCycleLR, ReduceLROnPlateau, StepLR
from transformers import get_linear_schedule_with_warmup

from .schedules import WarmupSchedule, train_with

# --- scheduler_first_skips_a_rate -----------------------------------------------------------------


def scheduler_first(model, loader, epochs):
    optimizer = SGD(model.parameters(), lr=0.1)
    scheduler = StepLR(optimizer, step_size=30)
    for epoch in range(epochs):
        scheduler.step()  # finds scheduler_first_skips_a_rate
        for x in loader:
            optimizer.zero_grad()
            model(x).sum().backward()
            optimizer.step()


def one_epoch(model, loader, optimizer):
    for x in loader:
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()


def by_way_of_a_function(model, loader, optimizer):
    lr_scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, milestones=[30, 60])
    for epoch in range(90):
        lr_scheduler.step()  # finds scheduler_first_skips_a_rate
        model.train()
        one_epoch(model, loader, optimizer)


def before_each_batch(model, loader, optimizer):
    scheduler = get_linear_schedule_with_warmup(optimizer, 100, 1000)
    for x in loader:
        loss = model(x).mean()
        loss.backward()
        scheduler.step()  # finds scheduler_first_skips_a_rate
        optimizer.step()
        optimizer.zero_grad()


def optimizer_first(model, loader, optimizer):
    scheduler = StepLR(optimizer, step_size=30)
    for epoch in range(90):
        one_epoch(model, loader, optimizer)
        scheduler.step()
        print(epoch)


def not_in_the_first_epoch(model, loader, optimizer):
    scheduler = StepLR(optimizer, step_size=30)
    for epoch in range(90):
        if epoch > 0:
            scheduler.step()
        one_epoch(model, loader, optimizer)


def of_this_project(model, loader, optimizer):
    scheduler = WarmupSchedule(optimizer)
    for x in loader:
        model(x).sum().backward()
        scheduler.step()
        optimizer.step()
        optimizer.zero_grad()


def with_the_epoch(model, loader, optimizer):
    scheduler = StepLR(optimizer, step_size=30)
    for epoch in range(90):
        scheduler.step(epoch)
        one_epoch(model, loader, optimizer)


def after_a_first_step(model, loader, optimizer):
    scheduler = StepLR(optimizer, step_size=30)
    optimizer.step()
    for epoch in range(90):
        scheduler.step()
        one_epoch(model, loader, optimizer)


# --- plateau_needs_a_metric -----------------------------------------------------------------------


def on_a_plateau(model, loader, optimizer):
    scheduler = ReduceLROnPlateau(optimizer, patience=3)
    for epoch in range(90):
        one_epoch(model, loader, optimizer)
        scheduler.step()  # finds plateau_needs_a_metric


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


# --- cosine_hardly_moves, one_cycle_stays_in_its_warmup, cosine_rises_again -----------------------


def cosine_in_batches(model, train_loader, optimizer, epochs):
    scheduler = CosineAnnealingLR(optimizer, T_max=len(train_loader) * epochs, eta_min=1e-6)
    for epoch in range(epochs):
        one_epoch(model, train_loader, optimizer)
        scheduler.step()  # finds cosine_hardly_moves


def cosine_in_steps(model, train_loader, optimizer, args):
    steps = args.epochs * len(train_loader)
    scheduler = CosineAnnealingLR(optimizer, steps)
    for epoch in range(args.epochs):
        for x in train_loader:
            optimizer.zero_grad()
            model(x).sum().backward()
            optimizer.step()
        if epoch >= 10:
            scheduler.step()  # finds cosine_hardly_moves


def one_cycle_in_batches(model, train_loader, optimizer, epochs):
    scheduler = OneCycleLR(optimizer, 0.1, epochs=epochs, steps_per_epoch=len(train_loader))
    for epoch in range(epochs):
        one_epoch(model, train_loader, optimizer)
        scheduler.step()  # finds one_cycle_stays_in_its_warmup


class Lit(pl.LightningModule):
    def configure_optimizers(self):
        optimizer = SGD(self.parameters(), lr=0.1)
        scheduler = OneCycleLR(
            optimizer, max_lr=0.1, total_steps=self.trainer.estimated_stepping_batches
        )
        return [optimizer], [scheduler]  # finds one_cycle_stays_in_its_warmup


class LitPerStep(pl.LightningModule):
    def configure_optimizers(self):
        optimizer = SGD(self.parameters(), lr=0.1)
        scheduler = OneCycleLR(
            optimizer, max_lr=0.1, total_steps=self.trainer.estimated_stepping_batches
        )
        return [optimizer], [{"scheduler": scheduler, "interval": "step"}]


class LitInEpochs(pl.LightningModule):
    def configure_optimizers(self):
        optimizer = SGD(self.parameters(), lr=0.1)
        cosine = CosineAnnealingLR(optimizer, T_max=self.trainer.max_epochs)
        how = {"scheduler": cosine, "interval": "step"}  # finds cosine_rises_again
        return {"optimizer": optimizer, "lr_scheduler": how}


class LitRight(pl.LightningModule):
    def configure_optimizers(self):
        optimizer = SGD(self.parameters(), lr=0.1)
        cosine = CosineAnnealingLR(optimizer, T_max=self.trainer.max_epochs)
        return {"optimizer": optimizer, "lr_scheduler": cosine}


def cosine_in_epochs(model, train_loader, optimizer, num_epochs):
    scheduler = CosineAnnealingLR(optimizer, T_max=num_epochs)
    for epoch in range(num_epochs):
        for i, x in enumerate(train_loader):
            optimizer.zero_grad()
            model(x).sum().backward()
            optimizer.step()
            scheduler.step()  # finds cosine_rises_again


def cosine_right_per_batch(model, train_loader, optimizer, epochs):
    scheduler = CosineAnnealingLR(optimizer, T_max=len(train_loader) * epochs)
    for epoch in range(epochs):
        for x in train_loader:
            optimizer.step()
            scheduler.step()


def cosine_right_per_epoch(model, train_loader, optimizer, epochs):
    scheduler = CosineAnnealingLR(optimizer, T_max=epochs)
    for epoch in range(epochs):
        for x in train_loader:
            optimizer.step()
        scheduler.step()


def cosine_stepped_after_the_last_batch(model, train_loader, optimizer, epochs):
    scheduler = CosineAnnealingLR(optimizer, T_max=epochs)
    for epoch in range(epochs):
        for i, x in enumerate(train_loader):
            optimizer.step()
            if i == len(train_loader) - 1:
                scheduler.step()


def some_iterations(batches, model, optimizer, scheduler, args):
    for i in range(args.iters_per_epoch):
        optimizer.zero_grad()
        model(next(batches)).sum().backward()
        optimizer.step()
        scheduler.step()


def cosine_in_iterations(batches, model, optimizer, args):
    scheduler = CosineAnnealingLR(optimizer, args.epochs * args.iters_per_epoch)
    for epoch in range(args.epochs):
        some_iterations(batches, model, optimizer, scheduler, args)


def cosine_of_whole_batches(model, x, train_loader, optimizer, epochs):
    scheduler = CosineAnnealingLR(optimizer, T_max=len(train_loader) * epochs)
    for epoch in range(epochs * len(train_loader)):
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()
        scheduler.step()


def cosine_of_a_part(model, loader, optimizer, epochs, share):
    scheduler = CosineAnnealingLR(optimizer, T_max=epochs * share)
    for epoch in range(epochs):
        one_epoch(model, loader, optimizer)
        scheduler.step()


def cosine_that_others_step_too(model, train_loader, optimizer, epochs):
    scheduler = CosineAnnealingLR(optimizer, T_max=len(train_loader) * epochs)
    for epoch in range(epochs):
        train_with(model, train_loader, optimizer, scheduler)
        scheduler.step()


def cosine_of_the_fraction(model, train_loader, optimizer, epochs):
    scheduler = CosineAnnealingLR(optimizer, T_max=epochs)
    for epoch in range(epochs):
        for i, x in enumerate(train_loader):
            optimizer.step()
            scheduler.step(epoch + i / len(train_loader))


def cosine_over_several_loaders(model, loaders, optimizer, epochs):
    scheduler = CosineAnnealingLR(optimizer, T_max=epochs)
    for loader in loaders:
        one_epoch(model, loader, optimizer)
        scheduler.step()


def cosine_over_the_loader_of_each_epoch(model, loader_per_epoch, optimizer, epochs):
    scheduler = CosineAnnealingLR(optimizer, T_max=epochs)
    for batches in loader_per_epoch:
        one_epoch(model, batches, optimizer)
        scheduler.step()


def one_cycle_right(model, train_loader, optimizer, epochs):
    scheduler = OneCycleLR(optimizer, 0.1, epochs=epochs, steps_per_epoch=len(train_loader))
    for epoch in range(epochs):
        for x in train_loader:
            optimizer.step()
            scheduler.step()


def one_cycle_in_epochs(model, train_loader, optimizer, epochs):
    scheduler = OneCycleLR(optimizer, 0.1, total_steps=epochs)
    for epoch in range(epochs):
        one_epoch(model, train_loader, optimizer)
        scheduler.step()


def step_when_the_loop_has_ended(model, loader, optimizer, epochs):
    scheduler = OneCycleLR(optimizer, 0.1, total_steps=epochs)
    for epoch in range(epochs):
        one_epoch(model, loader, optimizer)
        scheduler.step()
    else:
        optimizer.step()
