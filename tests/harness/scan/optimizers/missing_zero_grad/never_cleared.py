"""What missing_zero_grad of rules/optimizers.py finds: no file that clears has it."""

import hydra
import torch
from torch import nn


def fit(model, loader):
    optimizer = torch.optim.Adam(model.parameters())
    for x in loader:
        model(x).sum().backward()
        optimizer.step()  # finds missing_zero_grad


def train_epoch(model, loader, optimizer):
    for x in loader:
        loss = model(x).mean()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()  # finds missing_zero_grad


def train(cfg, model, loader):
    optimizer = hydra.utils.instantiate(cfg.optimizer, model.parameters())
    for _ in range(cfg.epochs):
        train_epoch(model, loader, optimizer)


def run_epoch(model, loader, optimizer):
    for x in loader:
        loss = model(x).sum()
        if optimizer is not None:
            loss.backward()
            optimizer.step()  # finds missing_zero_grad


def fit_and_validate(model, loader, held_out):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    run_epoch(model, loader, optimizer)
    run_epoch(model, held_out, None)


def of_whatever_class(model, loader, optimizer):
    for x in loader:
        model(x).sum().backward()
        optimizer.step()


def one_step(model, x):
    optimizer = torch.optim.Adam(model.parameters())
    model(x).sum().backward()
    optimizer.step()


def anew_in_each_pass(batches):
    for x in batches:
        model = nn.Linear(3, 3)
        optimizer = torch.optim.Adam(model.parameters())
        model(x).sum().backward()
        optimizer.step()


def with_a_closure(model, x):
    optimizer = torch.optim.LBFGS(model.parameters())
    for _ in range(9):
        model(x).sum().backward()
        optimizer.step(lambda: model(x).sum())


def of_another_library(engine, optimizer, loader):
    engine, optimizer = engine.initialize(optimizer)
    for x in loader:
        engine.backward(engine(x).sum())
        optimizer.step()


def of_an_engine(engine, loader):
    for x in loader:
        engine.backward(engine(x).sum())
        engine.step()


def test_that_it_runs(model):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        model(torch.ones(3)).sum().backward()
        optimizer.step()


def one_batch_is_enough(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in loader:
        model(x).sum().backward()
        optimizer.step()
        break
