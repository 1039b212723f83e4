"""The accuracy of each batch during training."""

import torch

SETTINGS = ("plain", "bfloat16", "short last batch")


def train(t, accuracy_of):
    accuracies = []
    for x, y in t.batches:
        with t.autocast():
            outputs = t.model(x)
            accuracies.append(accuracy_of(outputs, y))
        t.optimizer.zero_grad()
        t.loss(outputs.float(), y).backward()
        t.optimizer.step()
    return accuracies


def place(t):
    def accuracy_of(outputs, labels):
        paste
        return accuracy

    return train(t, accuracy_of)


def reference(t):
    def accuracy_of(outputs, labels):
        rows = zip(outputs.tolist(), labels.tolist())
        correct = [row.index(max(row)) == label for row, label in rows]
        return torch.tensor(sum(correct) / len(correct))

    return train(t, accuracy_of)
