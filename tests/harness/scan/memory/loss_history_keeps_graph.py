import torch


def trains(model, loader, criterion, optimizer):
    running_loss = 0.0
    for x, y in loader:
        loss = criterion(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running_loss += loss  # finds loss_history_keeps_graph
    return running_loss


def scales(model, loader, criterion, scaler):
    total = 0
    for x, y in loader:
        loss = criterion(model(x), y)
        scaler.scale(loss).backward()
        total += loss  # finds loss_history_keeps_graph


def adds_numbers(model, loader, criterion):
    total, second, third = 0.0, 0.0, 0.0
    for x, y in loader:
        loss = criterion(model(x), y)
        loss.backward()
        value = loss.item()
        total += value
        second += loss.item()
        loss = loss.detach()
        third += loss


def sums_the_terms(heads, x, y, criterion):
    loss = 0.0
    for head in heads:
        term = criterion(head(x), y)
        loss += term
    loss.backward()


def steps_once_for_all(model, loader, criterion):
    total = 0.0
    for x, y in loader:
        loss = criterion(model(x), y)
        loss.backward(retain_graph=True)
        total += loss
    total.backward()


def validates(model, loader, criterion):
    total = 0.0
    with torch.no_grad():
        for x, y in loader:
            loss = criterion(model(x), y)
            total += loss
    return total


class AverageMeter:
    def __init__(self):
        self.sum = self.count = 0

    def update(self, val, n=1):
        self.val = val
        self.sum += val * n
        self.count += n


class NumberMeter:
    def update(self, val, n=1):
        self.sum += float(val) * n


def meters(model, loader, criterion, optimizer):
    losses, numbers = AverageMeter(), NumberMeter()
    for x, y in loader:
        loss = criterion(model(x), y)
        loss.backward()
        losses.update(loss, len(y))  # finds loss_history_keeps_graph
        losses.update(loss.item(), len(y))
        numbers.update(loss, len(y))
