"""No model is saved here: set_order_changes_the_class_numbers has to find nothing."""

import torch


def train(model, text, optimizer):
    numbers = {word: i for i, word in enumerate(set(text.split()))}
    for word in text.split():
        optimizer.zero_grad()
        model(torch.tensor(numbers[word])).sum().backward()
        optimizer.step()
