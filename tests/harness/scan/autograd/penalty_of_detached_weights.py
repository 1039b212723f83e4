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


def adds_the_gradient_too(model, start, loss):
    drift = 0
    for p, q in zip(model.parameters(), start.parameters()):
        drift += (p.data - q.data).norm() ** 2
        p.grad.data += 0.1 * (p.data - q.data)
    loss = loss + 0.05 * drift
    loss.backward()
