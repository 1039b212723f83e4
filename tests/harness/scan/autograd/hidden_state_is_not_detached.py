import torch
from torch import nn


def trains(loader, criterion, optimizer, head):
    lstm = nn.LSTM(2, 4)
    state = None
    for x, y in loader:
        output, state = lstm(x, state)  # finds hidden_state_is_not_detached
        loss = criterion(head(output), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def trains_a_model(model, loader, criterion, optimizer):
    hidden = model.init_hidden(8)
    for x, y in loader:
        optimizer.zero_grad()
        output, hidden = model(x, hidden)  # finds hidden_state_is_not_detached
        criterion(output, y).backward()
        optimizer.step()


def detaches(model, loader, criterion):
    hidden = model.init_hidden(8)
    for x, y in loader:
        hidden = tuple(part.detach() for part in hidden)
        output, hidden = model(x, hidden)
        criterion(output, y).backward()


def begins_anew(model, loader, criterion):
    for x, y in loader:
        hidden = model.init_hidden(8)
        output, hidden = model(x, hidden)
        criterion(output, y).backward()


def sums_over_time(model, sequence, criterion):
    hidden, loss = None, 0
    for x, y in sequence:
        output, hidden = model(x, hidden)
        loss = loss + criterion(output, y)
    loss.backward()


def plays(env, agent, optimizer):
    state = env.reset()
    for _ in range(9):
        reward, state = env.step(agent, state)
        agent.loss(reward).backward()
