# ruff: noqa
import torch
import torch.nn as nn


def train(model, optimizer, loader, steps):
    for epoch in range(3):
        model.train()
        for step, (x, y) in enumerate(loader):
            loss = model(x).sum()
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            if step % steps == 0:
                model.eval()  # finds predict_leaves_eval_mode
                print(model(x))


def forgets(loader, steps):
    model = nn.LSTM(2, 2)
    optimizer = torch.optim.Adam(model.parameters())
    for epoch in range(3):
        for x in loader:
            model(x)[0].sum().backward()
            optimizer.step()
        model.eval()  # finds predict_leaves_eval_mode
        print(model(x))


def trains_another_one(loader):
    decoder, model = nn.LSTM(2, 2), nn.LSTM(2, 2)
    optimizer = torch.optim.Adam([*model.parameters(), *decoder.parameters()])
    for epoch in range(3):
        for x in loader:
            model(x)[0].sum().backward()
            optimizer.step()
        decoder.eval()
        with torch.no_grad():
            print(decoder(x))


def goes_back(model, teacher, optimizer, loader, steps):
    optimizer = torch.optim.Adam(model.parameters())
    for epoch in range(3):
        model.train()
        teacher.eval()
        for step, x in enumerate(loader):
            model(x).sum().backward()
            optimizer.step()
            if step % steps == 0:
                model.eval()
                print(model(x))
                model.to("cpu").train()
        model.eval()


def stops(model, optimizer, loader, steps):
    model.train()
    for step, x in enumerate(loader):
        model(x).sum().backward()
        optimizer.step()
        if step == steps:
            model.eval()
            break
    model.eval()


class Trainer(nn.Module):
    def fit(self, optimizer, loader):
        optimizer = torch.optim.Adam(self.model.parameters())
        for x in loader:
            self.model(x).sum().backward()
            optimizer.step()
            self.model.eval()
            self.train()


def search(model, x, loader):
    """The input is what is optimized."""
    optimizer = torch.optim.Adam([x])
    for _ in loader:
        model.eval()
        model(x).sum().backward()
        optimizer.step()


def validate(model, mode):
    model.eval()
    model.train(mode)


def switched_by_a_helper(model, loader, epochs):
    optimizer = torch.optim.Adam(model.parameters())
    for epoch in range(epochs):
        set_mode(model, True)
        for x in loader:
            model(x).sum().backward()
            optimizer.step()
        model.eval()
        print(model(x))


def unwrapped_by_a_helper(model, loader, accelerator):
    optimizer = torch.optim.Adam(model.parameters())
    for x in loader:
        model(x).sum().backward()
        optimizer.step()
        model.eval()  # finds predict_leaves_eval_mode
        print(accelerator.unwrap_model(model))


def validates_a_model(model, loader):
    model.eval()  # finds predict_leaves_eval_mode
    with torch.no_grad():
        return [model(x) for x, _ in loader]


def trains_and_calls_it(model, loader, val_loader, criterion, optimizer):
    for epoch in range(3):
        for x, y in loader:
            criterion(model(x), y).backward()
            optimizer.step()
            optimizer.zero_grad()
        validates_a_model(model, val_loader)


def validates_and_returns(model, loader):
    model.eval()
    with torch.no_grad():
        outputs = [model(x) for x, _ in loader]
    model.train()
    return outputs


def trains_and_calls_that(model, loader, val_loader, criterion, optimizer):
    for epoch in range(3):
        for x, y in loader:
            criterion(model(x), y).backward()
            optimizer.step()
            optimizer.zero_grad()
        validates_and_returns(model, val_loader)


def validates_in_turn(model, loader):
    model.eval()
    return [model(x) for x, _ in loader]


def trains_in_turn(model, loader, val_loader, criterion, optimizer):
    for epoch in range(3):
        model.train()
        for x, y in loader:
            criterion(model(x), y).backward()
            optimizer.step()
            optimizer.zero_grad()
        validates_in_turn(model, val_loader)
