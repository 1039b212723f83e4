import torch
import torch.nn as nn


def trains(model, loader):
    for x, y in loader:
        loss = nn.CrossEntropyLoss(model(x), y)  # finds loss_class_gets_the_outputs
        loss.backward()
        outputs = model(x)
        print(torch.nn.MSELoss(outputs, y))  # finds loss_class_gets_the_outputs


def creates(class_weights, size_average, x, y):
    return nn.CrossEntropyLoss(class_weights, size_average), nn.MSELoss()(x, y), nn.MSELoss(True, x)
