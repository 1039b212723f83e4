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


def reads_arrays(model, criterion, x, y):
    loss = criterion(model(x), y)
    loss.backward()
    total = loss.data.cpu().numpy()[0]  # finds index_of_a_scalar
    total += loss.detach().cpu().numpy()[0]  # finds index_of_a_scalar
    row_loss = criterion(model(x), y).view(-1)
    return total, row_loss.detach().numpy()[0], x.numpy()[0]
