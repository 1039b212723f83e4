def trains(model, loader, criterion):
    total = 0.0
    for x, y in loader:
        loss = criterion(model(x), y)
        loss.backward()
        total += loss.data[0]  # finds index_of_a_scalar
        print((x * y).mean().data[0])  # finds index_of_a_scalar
    return total


def reads_elements(model, losses, x):
    return x.data[0], losses.data[0], x.mean(1).data[0], model.loss.item()
