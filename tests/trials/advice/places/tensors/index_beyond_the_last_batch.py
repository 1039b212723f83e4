"""The correct predictions per class of an epoch whose last batch is short."""

import torch

SETTINGS = ("plain", "bfloat16", "short last batch")


def train(t, count):
    class_correct = [0] * 4
    for x, labels in t.batches:
        with t.autocast():
            outputs = t.model(x)
        t.optimizer.zero_grad()
        t.loss(outputs.float(), labels).backward()
        t.optimizer.step()
        count(class_correct, outputs.argmax(1) == labels, labels)
    return class_correct


def place(t):
    def count(class_correct, correct, labels):
        batch_size = 4
        paste

    return train(t, count)


def reference(t):
    def count(class_correct, correct, labels):
        for label in range(4):
            class_correct[label] += int((correct & (labels == label)).sum())

    return train(t, count)
