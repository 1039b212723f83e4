import math

import torch


def stops(model, loader, criterion, optimizer):
    for x, y in loader:
        loss = criterion(model(x), y)
        if torch.isnan(loss):  # finds isnan_misses_inf
            raise ValueError("nan")
        if torch.isnan(x).any():
            continue
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def skips(model, loader, criterion, optimizer):
    for x, y in loader:
        loss = criterion(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        if not math.isnan(loss.item()):  # finds isnan_misses_inf
            optimizer.step()


def only_prints(model, loader, criterion, optimizer):
    for x, y in loader:
        loss = criterion(model(x), y)
        if torch.isnan(loss):
            print("nan")
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def asks_for_both(model, loader, criterion, optimizer):
    for x, y in loader:
        loss = criterion(model(x), y)
        if torch.isnan(loss) or torch.isinf(loss):
            continue
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def scales(model, loader, criterion, optimizer, scaler):
    for x, y in loader:
        loss = criterion(model(x), y)
        if torch.isnan(loss):
            continue
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
