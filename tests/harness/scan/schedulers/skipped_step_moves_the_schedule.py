import torch
from torch.optim.lr_scheduler import OneCycleLR, ReduceLROnPlateau


def trains(model, loader, criterion, steps):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    schedule = OneCycleLR(optimizer, max_lr=0.1, total_steps=steps)
    scaler = torch.amp.GradScaler("cuda")
    for x, y in loader:
        optimizer.zero_grad()
        scaler.scale(criterion(model(x), y)).backward()
        scaler.step(optimizer)
        scaler.update()
        schedule.step()  # finds skipped_step_moves_the_schedule


class Trainer:
    def train_step(self, x, y):
        with torch.autocast("cuda"):
            loss = self.criterion(self.model(x), y)
        if self.scaler is not None:
            self.scaler.scale(loss).backward()
            self.scaler.step(self.optimizer)
            self.scaler.update()
        else:
            loss.backward()
            self.optimizer.step()
        self.lr_scheduler.step()  # finds skipped_step_moves_the_schedule
        self.optimizer.zero_grad()

    def train_epoch(self, loader):
        for x, y in loader:
            self.scaler.scale(self.criterion(self.model(x), y)).backward()
            self.scaler.step(self.optimizer)
            self.scaler.update()
            self.optimizer.zero_grad()
        self.lr_scheduler.step()


def steps_without_a_scaler(model, loader, criterion, amp, scaler, optimizer, scheduler):
    for x, y in loader:
        loss = criterion(model(x), y)
        if amp:
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
        else:
            loss.backward()
            optimizer.step()
            scheduler.step()
        optimizer.zero_grad()


def off(model, loader, criterion, optimizer, scheduler):
    scaler = torch.amp.GradScaler("cuda", enabled=False)
    for x, y in loader:
        scaler.scale(criterion(model(x), y)).backward()
        scaler.step(optimizer)
        scaler.update()
        scheduler.step()
        optimizer.zero_grad()


def of_a_metric(model, loader, criterion, optimizer):
    scheduler, scaler = ReduceLROnPlateau(optimizer), torch.amp.GradScaler("cuda")
    for x, y in loader:
        loss = criterion(model(x), y)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        scheduler.step(loss.item())
        optimizer.zero_grad()
