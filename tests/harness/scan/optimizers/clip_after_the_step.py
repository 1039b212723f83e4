import torch
from torch.nn.utils import clip_grad_norm_


def clips_too_late(model, loader, criterion, optimizer):
    for x, y in loader:
        optimizer.zero_grad()
        criterion(model(x), y).backward()
        optimizer.step()
        clip_grad_norm_(model.parameters(), 1.0)  # finds clip_after_the_step


def clips_the_next_backward(actor, critic, first, second):
    first.zero_grad()
    actor.loss().backward()
    first.step()
    second.zero_grad()
    critic.loss().backward()
    clip_grad_norm_(critic.parameters(), 1.0)
    second.step()


def clips_in_time(model, loader, criterion, optimizer):
    for x, y in loader:
        optimizer.zero_grad()
        criterion(model(x), y).backward()
        torch.nn.utils.clip_grad_value_(model.parameters(), 1.0)
        optimizer.step()


def clips_the_weights(model, loss, optimizer):
    loss.backward()
    optimizer.step()
    for p in model.parameters():
        p.data.clamp_(-0.01, 0.01)


def measures_the_norm(model, loss, optimizer):
    loss.backward()
    optimizer.step()
    norm = clip_grad_norm_(model.parameters(), float("inf"))  # finds clip_after_the_step
    print(norm)
