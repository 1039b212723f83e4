import torch


def trains(model, loader, criterion):
    for x, y in loader:
        loss = criterion(model(x), y)
        penalty = sum(p.data.abs().sum() for p in model.parameters())  # finds penalty_of_detached_weights
        loss = loss + 0.1 * penalty
        loss.backward()


def adds(model, loss):
    norm = 0
    for name, weight in model.state_dict().items():
        norm += weight.norm()  # finds penalty_of_detached_weights
    total_loss = loss + 0.1 * norm
    total_loss.backward()


def logs(model, loss, writer):
    norm = sum(p.data.norm() for p in model.parameters())
    writer.add_scalar("norm", norm)
    loss.backward()


def keeps_the_graph(model, loss):
    norm = sum(p.norm() for p in model.parameters())
    loss = loss + norm
    loss.backward()
