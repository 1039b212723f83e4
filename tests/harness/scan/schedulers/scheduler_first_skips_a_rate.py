import torch
from torch.optim import SGD
from torch.optim.lr_scheduler import StepLR
from transformers import get_linear_schedule_with_warmup
from .schedules import WarmupSchedule


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
