from torch.utils.data import DataLoader


def trains(model, train_dl: DataLoader, criterion, optimizer, epochs, np):
    for epoch in range(epochs):
        for x, y in train_dl:
            total_loss = criterion(model(x), y) + 0.1 * model.penalty()
            optimizer.zero_grad()
            total_loss.backward()
            optimizer.step()
        print(epoch, total_loss.item())  # finds loss_of_the_last_batch_only


def trains_in_turns(critic, generator, batches: DataLoader, optimizer, other, steps):
    for x in batches:
        for _ in range(steps):
            optimizer.zero_grad()
            d_loss = critic(generator(x).detach()).mean() - critic(x).mean()
            d_loss.backward()
            optimizer.step()
        other.zero_grad()
        g_loss = -critic(generator(x)).mean()
        g_loss.backward()
        other.step()
    return d_loss - g_loss  # finds loss_of_the_last_batch_only


def trains_with_its_own_loss(model, optimizer, rows, num_batches):
    for i in range(num_batches):
        loss = model(rows[i]).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(loss.item())  # finds loss_of_the_last_batch_only


def counts_the_windows(model, train_dl, criterion, window):
    for x, y in train_dl:
        accumulation = max(1, window)
        (criterion(model(x), y) / accumulation).backward()
    return accumulation


def smooths(model, train_dl, criterion, optimizer):
    smooth_loss = 0.0
    for x, y in train_dl:
        value = criterion(model(x), y)
        optimizer.zero_grad()
        value.backward()
        optimizer.step()
        smooth_loss = 0.9 * smooth_loss + 0.1 * value.item()
    return smooth_loss
