import torch
import torch.nn.functional as F
from torch import nn


def trains(model, loader):
    criterion = nn.BCEWithLogitsLoss()
    for x, y in loader:
        outputs = model(x)
        loss = criterion(outputs, y)
        loss.backward()
        predicted = outputs > 0.5  # finds logits_are_compared_with_one_half
        print((predicted == y).float().mean())


def validates(model, x, y):
    scores = model(x)
    loss = F.binary_cross_entropy_with_logits(scores, y)
    hits = torch.round(scores) == y  # finds logits_are_compared_with_one_half
    return loss, hits


def takes_the_sigmoid(model, x, y):
    scores = model(x)
    loss = F.binary_cross_entropy_with_logits(scores, y)
    scores = torch.sigmoid(scores)
    return loss, scores > 0.5, torch.sigmoid(scores) > 0.5


def compares_with_zero(model, x, y):
    scores = model(x)
    return F.binary_cross_entropy_with_logits(scores, y), scores > 0


def compares_others(model, x, y, mask):
    scores = model(x)
    return F.binary_cross_entropy_with_logits(scores, y), mask > 0.5
