import torch


class Meters:
    def __init__(self):
        self.content = {}

    def update(self, values):
        for key in values:
            value = values[key]
            self.content[key]["sum"] += value
            self.content[key]["count"] += 1


class Counts:
    def __init__(self):
        self.content = {}

    def update(self, values):
        for key in values:
            number = float(values[key])
            self.content[key] += number


def trains(model, loader, optimizer):
    meters, counts = Meters(), Counts()
    for x in loader:
        loss = model(x)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        meters.update({"loss": loss, "accuracy": 1})  # finds loss_history_keeps_graph
        meters.update({"loss": loss.item()})
        counts.update({"loss": loss})
